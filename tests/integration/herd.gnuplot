# SPDX-License-Identifier: Apache-2.0
# What a herd heard: how long each host waited for its answer, and how soon it is asked to come again, by
# the time at which it came. Variables: log (as of qmload --log), out (an SVG file), step (one of so many
# requests is drawn).
set terminal svg size 900,620 dynamic background rgb 'white'
set output out
set multiplot layout 2,1
set grid
set key outside right top
set xlabel 'came after s'
of(kind, column) = strcol(3) eq kind ? column : 1/0
set style data points
set pointsize 0.3
set ylabel 'answered after s'
plot log every step using (of('full', $1)):2 pt 7 lc rgb '#1f77b4' title 'in full', \
     '' every step using (of('short', $1)):2 pt 7 lc rgb '#d62728' title 'turned away', \
     '' every step using (of('down', $1)):2 pt 7 lc rgb '#7f7f7f' title 'by web server'
set ylabel 'asked to wait s'
plot log every step using (of('full', $1)):4 pt 7 lc rgb '#1f77b4' title 'in full', \
     '' every step using (of('short', $1)):4 pt 7 lc rgb '#d62728' title 'turned away', \
     '' every step using (of('down', $1)):4 pt 7 lc rgb '#7f7f7f' title 'by web server'
