module proconsul/bugs/contender

go 1.19
