# SPDX-License-Identifier: Apache-2.0
# Throughput by shape, connections, processes and backlog. Variables: points (lines of panel, line, x, median,
# least, greatest), out (an SVG file).
set terminal svg size 1000,640 dynamic background rgb 'white'
set output out
set multiplot layout 2,2
set grid
set key above horizontal
set yrange [0:*]
set ylabel 'requests/s'
set pointsize 0.7
# The rows of one line, or a point that is not drawn. Each plot has a line at 0 besides, as gnuplot refuses one
# in which no point is to be drawn.
rows(panel, line) = sprintf("< awk '$1 == \"%s\" && $2 == \"%s\" {print $3, $4, $5, $6; n = 1} END {if (!n) print \"NaN NaN NaN NaN\"}' %s", panel, line, points)
set style fill solid 0.7

set title 'greatest load by shape'
set xrange [0.4:4.6]
set xtics ('i' 1, 'ii' 2, 'iii' 3, 'iv' 4)
plot 0 with lines lc rgb 'white' notitle, \
     rows('shapes', 'quartermaster') using ($1 - 0.15):2:3:4:(0.28) with boxerrorbars lc rgb '#1f77b4' title 'quartermaster', \
     rows('shapes', 'stub') using ($1 + 0.15):2:3:4:(0.28) with boxerrorbars lc rgb '#bbbbbb' title 'stub', \
     rows('shapes', 'other') using ($1 + 0.4):2:3:4:(0.28) with boxerrorbars lc rgb '#d62728' title 'other'

set title 'shape ii by connections'
set xrange [0.8:80]
set logscale x 2
set xtics (1, 4, 16, 64)
plot 0 with lines lc rgb 'white' notitle, \
     rows('connections', 'quartermaster') using 1:2:3:4 with yerrorlines lc rgb '#1f77b4' pt 7 title 'quartermaster', \
     rows('connections', 'stub') using 1:2:3:4 with yerrorlines lc rgb '#7f7f7f' pt 7 title 'stub'

unset logscale x
set title 'servers x threads on one database'
set xrange [-0.6:3.6]
set xtics auto
set xtics ('' 0)
plot 0 with lines lc rgb 'white' notitle, \
     rows('processes', 'ii') using 0:2:3:4:(0.28):xtic(1) with boxerrorbars lc rgb '#1f77b4' title 'ii', \
     rows('processes', 'iii') using ($0 + 0.3):2:3:4:(0.28) with boxerrorbars lc rgb '#ff7f0e' title 'iii'

set title 'unsent jobs'
set xrange [1000:3e6]
set logscale x 10
set xtics auto
set format x '10^{%L}'
plot 0 with lines lc rgb 'white' notitle, \
     rows('backlog', 'ii') using 1:2:3:4 with yerrorlines lc rgb '#1f77b4' pt 7 title 'ii', \
     rows('backlog', 'iii') using 1:2:3:4 with yerrorlines lc rgb '#ff7f0e' pt 7 title 'iii'
