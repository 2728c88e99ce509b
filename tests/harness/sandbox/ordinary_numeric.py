"""Ordinary environments that use numpy or dates: modules that a policy has to name."""

from .ordinary import doing

NUMERIC = {
    "numpy linear algebra": doing("""
matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
assert np.allclose(np.linalg.inv(matrix) @ matrix, np.eye(2)) and np.isclose(np.linalg.det(matrix), 5.0)
values, vectors = np.linalg.eigh(matrix)
assert np.allclose(vectors @ np.diag(values) @ vectors.T, matrix)
left, middle, right = np.linalg.svd(np.arange(6.0).reshape(2, 3), full_matrices=False)
assert np.allclose(left * middle @ right, np.arange(6.0).reshape(2, 3))
assert np.allclose(np.linalg.solve(matrix, [3.0, 4.0]), [1.0, 1.0]) and np.linalg.norm([3.0, 4.0]) == 5.0
big = np.random.default_rng(0).random((120, 120))
assert np.allclose(np.linalg.qr(big)[0] @ np.linalg.qr(big)[1], big) and np.linalg.matrix_rank(matrix) == 2
""", "import numpy as np"),
    "numpy fourier": doing("""
wave = np.sin(np.linspace(0, 2 * np.pi, 64, endpoint=False) * 4)
assert np.argmax(np.abs(np.fft.rfft(wave))) == 4 and np.allclose(np.fft.ifft(np.fft.fft(wave)).real, wave)
assert np.fft.fftfreq(4).tolist() == [0.0, 0.25, -0.5, -0.25] and fft2(np.eye(2)).shape == (2, 2)
""", "import numpy as np\nfrom numpy.fft import fft2"),
    "numpy random": doing("""
rng, again = np.random.default_rng(turn), default_rng(turn)
assert rng.integers(0, 10, 5).tolist() == again.integers(0, 10, 5).tolist()
assert 0 <= rng.normal(size=1000).std() < 2 and sorted(rng.permutation(5)) == [0, 1, 2, 3, 4]
assert np.random.RandomState(3).randint(9) == np.random.RandomState(3).randint(9)
assert rng.choice(["a", "b"], p=[1.0, 0.0]) == "a" and len(np.random.Generator(np.random.PCG64(1)).bytes(3)) == 3
np.random.seed(1)
assert 0 <= np.random.rand() < 1
""", "import numpy as np\nfrom numpy.random import default_rng"),
    "numpy arrays": doing("""
grid = np.zeros((4, 4), dtype=int)
grid[1:3, 1:3] = 1
assert grid.sum() == 4 and np.argwhere(grid).tolist()[0] == [1, 1] and (grid.T == grid).all()
assert np.array2string(np.array([1.5, 2.0])) == "[1.5 2. ]" and str(np.int64(3)) == "3"
assert repr(np.arange(2)) == "array([0, 1])" and f"{np.float64(1.5):.2f}" == "1.50"
assert np.unique([3, 1, 3]).tolist() == [1, 3] and np.where(np.array([1, 0]), "y", "n").tolist() == ["y", "n"]
assert np.einsum("ij,jk->ik", np.eye(2), np.eye(2)).tolist() == [[1, 0], [0, 1]] and np.median([1, 2, 9]) == 2
assert np.concatenate([np.ones(1), np.zeros(1)]).tolist() == [1, 0] and np.histogram([1, 2], 2)[0].tolist() == [1, 1]
assert np.polyfit([0, 1, 2], [1, 3, 5], 1).round(6).tolist() == [2, 1] and np.pad([1], 1).tolist() == [0, 1, 0]
assert np.datetime64("2024-02-29") + 1 == np.datetime64("2024-03-01") and np.nanmean([np.nan, 1]) == 1
pairs = np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])
assert pairs["b"][0] == 2.5 and "'a'" in str(pairs.dtype) and np.percentile([1, 2, 3], 50) == 2
try: np.array(["a"]) * 2
except TypeError as error: assert str(error)
else: raise AssertionError
try: np.zeros(2) + np.zeros(3)
except ValueError as error: assert "shapes" in str(error)
else: raise AssertionError
assert copy.deepcopy(grid).sum() == 4 and np.vectorize(lambda x: x + 1)(np.arange(2)).tolist() == [1, 2]
assert grid.mean() == 0.25 and grid.astype(float).std() > 0 and np.cov([1.0, 2.0]).tolist() == 0.5
""", "import copy\nimport numpy as np"),
    "dates": doing("""
day = datetime.datetime.strptime("2024-02-29 13:05", "%Y-%m-%d %H:%M")
assert (day + datetime.timedelta(days=1)).strftime("%d %b %Y, %A") == "01 Mar 2024, Friday"
assert datetime.date.fromisoformat("2024-01-01").isocalendar().week == 1 and day.isoformat() == "2024-02-29T13:05:00"
zone = datetime.timezone(datetime.timedelta(hours=2))
assert day.replace(tzinfo=zone).astimezone(datetime.timezone.utc).hour == 11
assert datetime.datetime.strptime("+0200", "%z").utcoffset() == datetime.timedelta(hours=2)
assert f"{day:%H:%M}" == "13:05" and copy.deepcopy(day) == day
""", "import copy, datetime"),
}  # fmt: skip
MORE_MODULES = ("numpy", "numpy.random", "numpy.linalg", "numpy.fft", "datetime")
