import random
class raiseEnv:
 n, k, t = 2, -1, " back"
 w = " raise directed graph".split()
 def reset(self, seed):
  r = random.Random(seed)
  q = r.sample(self.w, self.n)
  self.p, self.i = q[::self.k], 0
  return " use " + " ".join(q) + self.t, {}
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return " then", self.i / len(self.p) if end else 0, end, False, {}
