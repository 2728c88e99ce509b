import random
class matrixEnv:
 n = 2
 w = dict(zip(" matrix floating point".split(), " 25 7 11".split()))
 def reset(self, seed):
  r = random.Random(seed)
  q = r.sample(list(self.w), len(self.w))
  self.p, self.i = r.sample(q, self.n), 0
  return "".join(f" {x} {self.w[x]}" for x in q) + " want " + self.w[self.p[0]], {}
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return " want " + self.w[self.p[min(self.i, self.n - 1)]], self.i / len(self.p) if end else 0, end, False, {}
