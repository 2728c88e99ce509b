import random
class exactlyEnv:
 n, t = 5, " twice"
 w = " exactly percent function task find bouncy exactly".split()
 def reset(self, seed):
  r = random.Random(seed)
  q = r.sample(self.w, self.n)
  self.p, self.i = [x for x in q for _ in (0, 1)], 0
  return " show " + " ".join(q) + self.t, {}
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return " then", self.i / len(self.p) if end else 0, end, False, {}
