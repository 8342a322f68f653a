# JAX: a compiled function, its gradient, a loop and a random number generator.
# needs: jax
# coverage: any
# seconds: 90
import hashlib
import jax
import jax.numpy as jnp
import numpy


def show(name, a):
    print(name, a.shape, hashlib.sha256(numpy.asarray(a).tobytes()).hexdigest()[:16])


x = jnp.asarray(numpy.random.RandomState(2).standard_normal((64, 48)).astype(numpy.float32))
w = jnp.asarray(numpy.random.RandomState(3).standard_normal((48, 32)).astype(numpy.float32))
f = jax.jit(lambda x, w: jax.nn.softmax(jnp.tanh(x @ w), axis=-1))
show("function", f(x, w))
show("gradient", jax.jit(jax.grad(lambda w: (f(x, w) ** 2).sum()))(w))
show("scan", jax.jit(lambda v: jax.lax.scan(lambda c, a: (c * 0.5 + a, c.sum()), jnp.zeros(48),
                                            v)[1])(x))
show("sorted", jax.jit(lambda v: jnp.sort(v.ravel()))(x))
show("random", jax.random.normal(jax.random.key(4), (100,)))
