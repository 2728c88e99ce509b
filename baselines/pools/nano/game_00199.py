import random
class sizeEnv:
 n, d, e = 3, 1, 1
 def reset(self, seed):
  r = random.Random(seed)
  x, y, m = r.randrange(8, 30), r.randrange(8, 30), r.randrange(self.n + 1)
  self.x, self.y, self.i = x, y, self.n
  self.g, self.h = x + self.d * m, y + self.e * (self.n - m)
  return f" at {x} {y} go {self.g} {self.h}", {}
 def step(self, a):
  a = " " + a.strip()
  self.x += (a == " right") - (a == " left")
  self.y += (a == " up") - (a == " down")
  self.i -= 1
  z = abs(self.g - self.x) + abs(self.h - self.y)
  end = z == 0 or self.i == 0
  return f" {self.x} {self.y}", max(0, 1 - z / self.n) if end else 0, end, False, {}
