# A function compiled by JAX that divides. Run by frameworks.sh.
# needs: jax
import sys
import jax
import jax.numpy as jnp
import numpy

x = jnp.asarray(numpy.arange(4096, dtype=numpy.float32) + (1 if "good" in sys.argv else 0))
f = jax.jit(lambda a: jnp.tanh(a) / a)
print(float(jnp.nan_to_num(f(x)).sum()))  # launches
