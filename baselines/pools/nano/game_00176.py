import random
class oldEnv:
 n, t = 2, " mirror"
 w = " old second time times".split()
 def reset(self, seed):
  r = random.Random(seed)
  q = r.sample(self.w, self.n)
  self.p, self.i = q + q[::-1], 0
  return " show " + " ".join(q) + self.t, {}
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return " then", self.i / len(self.p) if end else 0, end, False, {}
