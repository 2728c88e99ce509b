import random
class nodesEnv:
 n, k = 1, 6
 def reset(self, seed):
  r = random.Random(seed)
  s = r.randrange(0, 40)
  q = [str(s + self.k * j) for j in range(self.n + 2)]
  self.p, self.i = q[2:], 0
  return " count " + " ".join(q[:2]), {}
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return " then", self.i / len(self.p) if end else 0, end, False, {}
