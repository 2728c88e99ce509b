import random
class formedEnv:
 n, k, t = 3, 1, " low"
 w = " 84 61 24 80 53".split()
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
