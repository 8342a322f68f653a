"""Python runs this when it starts: it chooses PyTorch's allocator.

PYTORCH_NO_CUDA_MEMORY_CACHING turns PyTorch's cache off for good. Programs that use private pools
of it (graph trees of torch.compile, torch.cuda.MemPool) do not work without it: they ask the cache
what is in a pool. So the variable is removed if PyTorch can switch its cache off and on, and the
cache is on from the first use of a pool.
"""
import os
import sys

VARIABLE = "PYTORCH_NO_CUDA_MEMORY_CACHING"


def own_cache(torch_c):
    """Runs when PyTorch's C functions are loaded: turns its cache off until a pool is used."""
    enable = getattr(torch_c, "_cuda_cudaCachingAllocator_enable", None)
    if enable is None:
        return
    enable(False)
    os.environ.pop(VARIABLE, None)

    def with_cache(begin):
        def begin_with_cache(*args, **kwargs):
            enable(True)
            return begin(*args, **kwargs)

        return begin_with_cache

    for name in dir(torch_c):
        if name.startswith("_cuda_beginAllocate"):
            setattr(torch_c, name, with_cache(getattr(torch_c, name)))


def graph_trees(_):
    """Graph trees check the contents of their pool themselves: turns the cache on for them."""
    enable = getattr(sys.modules.get("torch._C"), "_cuda_cudaCachingAllocator_enable", None)
    if enable is not None:
        enable(True)


class AfterImport:
    """A finder that lets others find a module, and calls a function when it is loaded."""

    wanted = {"torch._C": own_cache, "torch._inductor.cudagraph_trees": graph_trees}

    def find_spec(self, name, path=None, target=None):
        after = self.wanted.get(name)
        spec = self.found_by_others(name, path, target) if after else None
        load = getattr(spec and spec.loader, "exec_module", None)
        if load is None:
            return None

        def load_and_tell(module):
            load(module)
            try:
                after(module)
            except Exception as error:  # the program goes on as it would without us
                if os.environ.get("WARPGRIND_VERBOSE") == "yes":
                    print("warpgrind: PyTorch's cache stays as it is:", error, file=sys.stderr)

        try:
            spec.loader.exec_module = load_and_tell
        except AttributeError:
            return None
        return spec

    def found_by_others(self, name, path, target):
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                return spec
        return None


def run_the_users_own():
    """The file of this name that Python would have run without us."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if ours is not None:
            sys.modules.setdefault("sitecustomize", ours)


if os.environ.get(VARIABLE) or os.environ.get("WARPGRIND_UNCACHED"):
    sys.meta_path.insert(0, AfterImport())
run_the_users_own()
