# SPDX-License-Identifier: Apache-2.0
# What a herd heard: how long each host waited for its answer, and how soon it is asked to come again, by
# the time at which it came. Variables: log (as of qmload --log), out (an SVG file).
set terminal svg size 900,620 dynamic background rgb 'white'
set output out
set multiplot layout 2,1
set grid
set key top left
set xlabel 'came after s'
set ylabel 'answered after s'
plot log using (strcol(3) eq 'full' ? $1 : 1/0):2 with dots lc rgb '#1f77b4' title 'answered in full', \
     log using (strcol(3) eq 'short' ? $1 : 1/0):2 with dots lc rgb '#d62728' title 'turned away'
set ylabel 'asked to wait s'
plot log using (strcol(3) eq 'full' ? $1 : 1/0):4 with dots lc rgb '#1f77b4' title 'answered in full', \
     log using (strcol(3) eq 'short' ? $1 : 1/0):4 with dots lc rgb '#d62728' title 'turned away'
