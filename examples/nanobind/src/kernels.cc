// saxpy and a softmax of rows on the CPU, with nanobind and the type casters of dlx/nanobind.h.
#include <dlx/nanobind.h>

#include <algorithm>
#include <cmath>

namespace nb = nanobind;

static constexpr dlx::Signature kSaxpy{"saxpy", {"x", "y", "out"}}, kSoftmax{"softmax", {"x", "out"}};

// Every function of the kit that returns false has set an exception.
static void check(bool fine) {
  if (!fine) throw nb::python_error();
}

// Where the result goes: into `out` or, if that is NULL, into a new tensor of the framework of `like`.
class Result {
 public:
  Result(dlx::Call& call, const dlx::Tensor& like, dlx::Tensor* out) : out_(out) {
    check(out != nullptr ? out->like(like) : call.empty_like(&made_, like));
  }
  float* data() const { return out_ != nullptr ? out_->data<float>() : made_.data<float>(); }
  nb::object object() {
    if (out_ != nullptr) return nb::borrow<nb::object>(out_->object());
    return nb::cast(std::move(made_));
  }

 private:
  dlx::Tensor* out_;
  dlx::Output made_;
};

static nb::object saxpy(double a, const dlx::Tensor& x, const dlx::Tensor& y, dlx::Tensor* out) {
  dlx::Call call(kSaxpy);
  check(call.join({&x, &y, out}) && x.on(kDLCPU) && x.require(dlx::float32, {"n"}) && y.like(x));
  Result result(call, x, out);
  const float *from_x = x.data<const float>(), *from_y = y.data<const float>();
  float* to = result.data();
  for (int64_t i = 0; i < x.size(0); ++i) to[i] = static_cast<float>(a) * from_x[i] + from_y[i];
  return result.object();
}

static void softmax_row(const float* from, float* to, int64_t count) {
  const float largest = count != 0 ? *std::max_element(from, from + count) : 0;
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += to[i] = std::exp(from[i] - largest);
  for (int64_t i = 0; i < count; ++i) to[i] /= sum;
}

static nb::object softmax(const dlx::Tensor& x, dlx::Tensor* out) {
  dlx::Call call(kSoftmax);
  check(call.join({&x, out}) && x.on(kDLCPU) && x.require(dlx::float32, {"rows", "columns"}));
  Result result(call, x, out);
  for (int64_t row = 0; row < x.size(0); ++row) {
    softmax_row(x.data<const float>() + row * x.size(1), result.data() + row * x.size(1), x.size(1));
  }
  return result.object();
}

NB_MODULE(dlx_example_nanobind, m) {
  m.def("saxpy", &saxpy, "a * x + y", nb::arg("a"), nb::arg("x"), nb::arg("y"), nb::kw_only(),
        nb::arg("out") = nb::none());
  m.def("softmax", &softmax, "of each row", nb::arg("x"), nb::kw_only(), nb::arg("out") = nb::none());
}
