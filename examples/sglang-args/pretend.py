"""Stands in for what SGLang needs and a machine without a GPU does not have: the CUDA device, and packages of kernels.

Any module under the names in ABSENT can be imported; whatever is asked of it is an inert object that is false, empty and takes any call. The CUDA
device has what the resolution of arguments decides by: a number, a name, a compute capability and memory. Everything else is real: SGLang's own code,
torch on the CPU, transformers with its reading of config.json.
"""
import importlib.abc
import importlib.machinery
import sys
import types

ABSENT = frozenset(
    "triton flashinfer sgl_kernel deep_gemm deep_ep tvm_ffi cutlass cuda quack tilelang flash_attn torchvision torchaudio IPython xgrammar outlines "
    "llguidance torch_memory_saver compressed_tensors setproctitle uvloop openai openai_harmony anthropic mistral_common mooncake".split()
)


class Inert(type):
    """The type of everything pretended: classes, so that one can be a base, an annotation, a decorator or a value."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Inert(name, (), {})
        setattr(cls, name, made)
        return made

    def __call__(cls, *args, **kwargs):
        decorates = len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type))
        return args[0] if decorates else cls

    def __getitem__(cls, key):
        return cls

    def __iter__(cls):
        return iter(())

    def __or__(cls, other):
        return object

    __ror__ = __or__

    def __bool__(cls):
        return False


class PretendedModule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Inert(name, (), {})
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return PretendedModule(spec.name)

    def exec_module(self, module):
        pass


def device(count, name, capability, memory_mib):
    """Gives torch count CUDA devices of memory_mib MiB each, all of it free."""
    import torch

    memory = memory_mib << 20
    properties = types.SimpleNamespace(name=name, total_memory=memory, major=capability[0], minor=capability[1], multi_processor_count=132)
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: count
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_name = lambda index=None: name
    torch.cuda.get_device_capability = lambda index=None: capability
    torch.cuda.get_device_properties = lambda index=None: properties
    torch.cuda.mem_get_info = lambda index=None: (memory, memory)
    torch.compile = lambda f=None, **options: f or (lambda g: g)  # else it loads triton


def packages():
    """Makes the absent packages importable, after transformers has found out which of them are missing: it is to go without them."""
    import transformers.utils.import_utils as known

    for name in dir(known):
        probe = getattr(known, name)
        if name.startswith("is_") and name.endswith("_available") and getattr(probe, "__wrapped__", probe).__code__.co_argcount == 0:
            probe()
    sys.meta_path.insert(0, Finder())
