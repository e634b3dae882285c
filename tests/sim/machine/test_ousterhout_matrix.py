import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.machine.ousterhout_matrix import Cell, Matrix, MatrixPicture
from sim.support.errors import DecisionError


def two_rows() -> Matrix:
    """Return a matrix of four columns: job 10 in columns 0-1 of row 1, job 20 in columns 2-3 of row 2."""
    matrix = Matrix(4)
    matrix.open_row()
    matrix.open_row()
    matrix.place(10, 1, 0b0011)
    matrix.place(20, 2, 0b1100)
    return matrix


def test_jobs_have_homes_and_replicas() -> None:
    matrix = two_rows()
    assert (matrix.home(10), matrix.columns(10), matrix.rows_of(10)) == (1, 0b0011, (1,))
    assert (matrix.free(1), matrix.free_columns(1), matrix.lowest_free(1, 1)) == (2, 0b1100, 0b0100)
    assert 10 in matrix
    assert 11 not in matrix
    assert len(matrix) == 2
    matrix = two_rows()
    matrix.replicate(10, 2)
    assert matrix.rows_of(10) == (1, 2)
    assert matrix.standing_in(2) == [10, 20]
    assert (matrix.home(10), matrix.home(20)) == (1, 2)
    assert matrix.free(2) == 0
    assert matrix.has_replicas
    matrix = two_rows()
    assert matrix.room_for_replica(10) == 2
    matrix.replicate(10, 2)
    assert matrix.room_for_replica(10) is None
    matrix = two_rows()
    matrix.replicate(10, 2)
    assert matrix.in_the_way(0b0110, 2) == [10, 20]
    assert matrix.in_the_way(0b1000, 2) == [20]
    assert matrix.in_the_way(0b1000, 1) == []
    matrix = two_rows()
    matrix.replicate(20, 1)
    assert matrix.picture(on_turn=2) == MatrixPicture(
        4, ((1, (Cell(10, 0b0011, True), Cell(20, 0b1100, False))), (2, (Cell(20, 0b1100, True),))), 2
    )


def test_copies_and_moves_keep_apart() -> None:
    matrix = two_rows()
    matrix.move(10, 1, 0b0110)
    assert (matrix.columns(10), matrix.used(1)) == (0b0110, 0b0110)
    matrix = two_rows()
    twin = matrix.copy()
    twin.replicate(10, 2)
    twin.open_row()
    assert matrix.picture() == two_rows().picture()
    assert matrix.open_row() == twin.rows[-1]
    matrix = two_rows()
    matrix.replicate(10, 2)
    with refused(matrix, "it is replicated"):
        matrix.move(10, 2)


def test_ids_of_empty_rows_are_not_reused_before_cleaning() -> None:
    matrix = two_rows()
    matrix.open_row()
    matrix.remove(10)
    assert matrix.drop_empty_rows() == [1, 3]
    assert list(matrix.rows) == [2]
    assert matrix.copy().open_row() == matrix.open_row() == 4
    assert list(matrix.rows) == [2, 4]
    matrix.clean()
    assert matrix.open_row() == 1
    assert list(matrix.rows) == [2, 4, 1]


def refused(matrix: Matrix, says: str) -> contextlib.AbstractContextManager[object]:
    return pytest.raises(DecisionError, match=says)


def test_what_is_impossible_is_refused_and_changes_nothing() -> None:
    matrix = two_rows()
    with refused(matrix, "columns 1 are taken"):
        matrix.place(30, 1, 0b0110)
    with refused(matrix, "is in the matrix already"):
        matrix.place(10, 2, 0b0011)
    with refused(matrix, "there is no such row"):
        matrix.place(30, 3, 0b0100)
    with refused(matrix, "cannot be placed in columns"):
        matrix.place(30, 1, 0b10000)
    with refused(matrix, "cannot be placed in columns none"):
        matrix.place(30, 1, 0)
    with refused(matrix, "columns 0-1 are taken"):
        matrix.replicate(10, 1)
    with refused(matrix, "is not in the matrix"):
        matrix.replicate(30, 1)
    with refused(matrix, "from 2 columns to 1"):
        matrix.move(10, 2, 0b0001)
    with refused(matrix, "columns 2 are taken"):
        matrix.move(10, 2, 0b0110)
    with refused(matrix, "is not in the matrix"):
        matrix.remove(30)
    assert matrix.picture() == two_rows().picture()
    assert (matrix.used(1), matrix.used(2)) == (0b0011, 0b1100)


@given(st.lists(st.tuples(st.sampled_from("pmrxcdo"), st.integers(0, 5), st.integers(1, 5), st.integers(1, 63))))
def test_whatever_is_asked_no_cell_is_ever_held_twice(asked: list[tuple[str, int, int, int]]) -> None:
    matrix = Matrix(6)
    for what, rank, row, columns in asked:
        before = matrix.copy()
        try:
            match what:
                case "p":
                    matrix.place(rank, row, columns)
                case "m":
                    matrix.move(rank, row, columns)
                case "r":
                    matrix.replicate(rank, row)
                case "x":
                    matrix.remove(rank)
                case "c":
                    matrix.clean()
                case "d":
                    matrix.drop_empty_rows()
                case _:
                    matrix.open_row()
        except DecisionError:
            assert matrix.picture() == before.picture()
        assert not list(matrix.held_twice())
