module example.com/proconsul/proconsultest

go 1.19
