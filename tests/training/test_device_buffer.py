"""What the host writes and the learner's device keeps."""

import torch

from linkzoo_training.selfplay.device_buffer import DeviceBuffer


def test_on_the_cpu_it_is_one_tensor() -> None:
    host = torch.zeros(3, 4)
    buffer = DeviceBuffer(host, torch.device("cpu"))
    host[1] = 7
    assert buffer.device is host
    assert buffer.send(1).data_ptr() == host[1].data_ptr()


def test_elsewhere_only_the_row_that_is_sent_arrives() -> None:
    host = torch.zeros(3, 4)
    buffer = DeviceBuffer(host, torch.device("cpu"))
    buffer.device = torch.zeros(3, 4)  # stands for another device's
    host[:] = torch.arange(12.0).reshape(3, 4)
    assert buffer.send(-1).equal(host[-1])
    assert buffer.device[:-1].eq(0).all()
