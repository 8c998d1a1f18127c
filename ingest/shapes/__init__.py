"""Shapes that several log formats share: messages, blocks, exchanges, threads, times, counts."""
