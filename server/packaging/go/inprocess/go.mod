module example.com/proconsul/proconsultest/inprocess

go 1.25.0

require (
	example.com/proconsul/proconsultest v0.0.0
	github.com/tetratelabs/wazero v1.12.0
)

require golang.org/x/sys v0.44.0 // indirect

replace example.com/proconsul/proconsultest => ../
