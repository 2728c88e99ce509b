import random
class palEnv:
 n, k, t = 4, 1, " low"
 w = " 6 75 2 45 25 14".split()
 def reset(self, seed):
  r = random.Random(seed)
  q = r.sample(self.w, self.n)
  self.p, self.i = sorted(q, key=int)[::self.k], 0
  return " take " + " ".join(q) + self.t, {}
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return " then", self.i / len(self.p) if end else 0, end, False, {}
