package inprocess

import (
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// The folder is there without the module, too, so that the package compiles.
//
//go:embed all:module
var embedded embed.FS

// The version of the module's interface, which server/wasm/README.md describes.
const interfaceVersion = 1

type compiled struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// The module is compiled once for each process, by the first server. That takes processor time alone, so a synctest bubble
// may be the first: its clock stands still meanwhile.
var once = sync.OnceValues(compile)

func compile() (compiled, error) {
	code, err := embedded.ReadFile("module/proconsul.wasm")
	if err != nil {
		return compiled{}, errors.New("the module is not in its folder: run server/packaging/go/build in a clone of proconsul")
	}
	ctx := experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	config := wazero.NewRuntimeConfig()
	if folder, err := os.UserCacheDir(); err == nil {
		// Where it cannot be written, each process compiles the module anew.
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(folder, "proconsul")); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	made := wazero.NewRuntimeWithConfig(ctx, config)
	_, err = made.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(takePanic).Export("panic").Instantiate(ctx)
	if err != nil {
		return compiled{}, err
	}
	module, err := made.CompileModule(ctx, code)
	return compiled{made, module}, err
}

// The key of the context's value that keeps the text of a panic.
type panicText struct{}

func takePanic(ctx context.Context, module api.Module, at, length uint32) {
	text, _ := module.Memory().Read(at, length)
	*ctx.Value(panicText{}).(*string) = string(text)
}

// A server in the module. It takes one call at a time.
type instance struct {
	ctx      context.Context
	module   api.Module
	panicked *string
	// The exported functions that have been called.
	functions map[string]api.Function
}

func instantiate() (*instance, error) {
	from, err := once()
	if err != nil {
		return nil, err
	}
	panicked := new(string)
	ctx := context.WithValue(context.Background(), panicText{}, panicked)
	module, err := from.runtime.InstantiateModule(ctx, from.module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, err
	}
	made := &instance{ctx, module, panicked, map[string]api.Function{}}
	version, err := made.call("abi_version")
	if err == nil && version != interfaceVersion {
		err = fmt.Errorf("the module has version %d of its interface, not %d: build it anew with server/packaging/go/build", version, interfaceVersion)
	}
	return made, err
}

func (i *instance) call(name string, arguments ...uint64) (uint32, error) {
	function := i.functions[name]
	if function == nil {
		function = i.module.ExportedFunction(name)
		i.functions[name] = function
	}
	if function == nil {
		return 0, fmt.Errorf("the module has no %s: build it anew with server/packaging/go/build", name)
	}
	results, err := function.Call(i.ctx, arguments...)
	if *i.panicked != "" {
		return 0, fmt.Errorf("the server panicked: %s", *i.panicked)
	}
	if err != nil {
		return 0, fmt.Errorf("the server failed: %v", err)
	}
	return uint32(results[0]), nil
}

// Calls a function with bytes in the buffer. The reply is there until the next call.
func (i *instance) exchange(bytes []byte, name string, arguments ...uint64) ([]byte, error) {
	at, err := i.call("buffer", uint64(len(bytes)))
	if err != nil {
		return nil, err
	}
	i.module.Memory().Write(at, bytes)
	length, err := i.call(name, arguments...)
	if err != nil {
		return nil, err
	}
	at, err = i.call("reply")
	reply, _ := i.module.Memory().Read(at, length)
	return reply, err
}

// Returns how many agents its server has.
func (i *instance) agents() (int, error) {
	agents, err := i.call("agents")
	return int(agents), err
}

func (i *instance) close() {
	_ = i.module.Close(i.ctx)
}

// An output of the module: see server/wasm/README.md.
type output struct {
	kind   byte
	number uint64
	bytes  []byte
}

func outputs(reply []byte) iter.Seq[output] {
	return func(yield func(output) bool) {
		for len(reply) > 0 {
			end := 13 + binary.LittleEndian.Uint32(reply[9:])
			if !yield(output{reply[0], binary.LittleEndian.Uint64(reply[1:]), reply[13:end]}) {
				return
			}
			reply = reply[end:]
		}
	}
}
