"""Sentences of all problem kinds but stories and unit conversions.

Fields: {A}, {B} persons, {W}/{L} the one with more/less, {S}/{s} person A as She/He or she/he, {o}
objects, {p} containers, {i} goods; numbers {a}, {b}, {k}, {n} as the kinds define them.
"""

from __future__ import annotations

from training.slot import Slot

_LEFT = (
    "[How many dollars are left?|How much money is left?|How much is left?|"
    "How many dollars does {A} still have?|How many dollars remain?|How many dollars does {s} keep?]"
)

OTHER_SLOTS: dict[str, Slot] = {
    "groups": Slot(
        base=(
            "{A} has {k} {p} with {n} {o} in each.",
            "{A} fills {k} {p} with {n} {o} each.",
            "There are {k} {p} of {n} {o} in the shop of {A}.",
            "{A} has {k} {p}, each with {n} {o}.",
            "{A} carries {k} {p} of {n} {o} each.",
        ),
        extra=(
            "{A} [owns|keeps|stores|buys|orders|sells] {k} {p} [of|with] {n} {o} each.",
            "{A} [owns|keeps|stacks|opens|counts] {k} {p} with {n} {o} in each.",
            "[There are|A shop has|The room has] {k} {p} [with {n} {o} in each|of {n} {o} each].",
            "Each of the {k} {p} [of {A}|on the shelf|in the room] [holds|has|contains] {n} {o}.",
            "{A} puts {n} {o} [in|into] each of {k} {p}.",
            "[In|Inside] each of {k} {p} there are {n} {o}.",
            "{A} [had|filled|bought] {k} {p}[, each with| that hold| of] {n} {o}.",
        ),
        held_out=("{A} packs {k} {p} with {n} {o} in each.",),
    ),
    "broken": Slot(
        base=(
            "{b} of the {o} are broken.",
            "{A} throws away {b} old {o}.",
            "{b} {o} are sold.",
            "{A} loses {b} of them.",
            "{b} of them are bad.",
            "{A} eats or loses {b} {o}.",
        ),
        extra=(
            "[Then |]{b} of [them|the {o}] [break|are lost|are taken|get wet|go bad|are sold].",
            "{b} {o} [break|are lost|are taken by {B}|get wet|go bad|are given away].",
            "{A} [sells|uses|drops|gives away|breaks] {b}[| of the {o}| of them| {o}].",
            "{b} of [them|the {o}] must be thrown away.",
            "{S} [sells|loses|gives away] {b} [of them|{o}].",
        ),
        held_out=("{A} throws away {b} broken {o}.",),
    ),
    "qgood": Slot(
        base=(
            "How many {o} are left?",
            "How many {o} remain?",
            "How many {o} does {A} still have?",
            "How many {o} are still there?",
        ),
        extra=(
            "How many {o} [are good|can be used|stay|does {s} keep|does {A} keep]?",
            "What number of {o} [is left|remains]?",
            "How many of the {o} [are left|remain]?",
            "Work out how many {o} [remain|are still there|{A} still has].",
        ),
        held_out=("Find how many {o} are left.",),
    ),
    "qall": Slot(
        base=(
            "How many {o} is that in all?",
            "How many {o} are there in total?",
            "How many {o} does {A} have altogether?",
            "How many {o} are there?",
            "What is the total number of {o}?",
        ),
        extra=(
            "How many {o} does {A} have [in all|in total|now]?",
            "[Find|Work out|Count] the total[| number of {o}].",
            "How many {o} is that [in total|together|altogether]?",
            "How many {o} are there [altogether|together]?",
            "What is the total?",
        ),
        held_out=("How many {o} are there in all?",),
    ),
    "cmore": Slot(
        base=(
            "{B} has {b} more {o} than {A}.",
            "{B} has {b} {o} more than {A}.",
            "{B} holds {b} more than {A}.",
            "{B} owns {b} more {o} than {A}.",
        ),
        extra=(
            "{B} [keeps|counts|finds|collects|stores] {b} more[| {o}] than {A}[| does].",
            "{B} has {b} [more|extra] {o} compared [to|with] {A}.",
            "Compared [to|with] {A}, {B} has {b} more[| {o}].",
            "{B} [had|got|found] {b} more[| {o}] than {A}.",
        ),
        held_out=("{B} owns {b} more than {A}.",),
    ),
    "cless": Slot(
        base=(
            "{B} has {b} fewer {o} than {A}.",
            "{B} has {b} {o} less than {A}.",
            "{B} holds {b} fewer than {A}.",
            "{B} owns {b} {o} fewer than {A}.",
        ),
        extra=(
            "{B} [keeps|counts|finds|collects|stores] {b} fewer[| {o}] than {A}[| does].",
            "{B} has {b} [fewer|less] {o} compared [to|with] {A}.",
            "Compared [to|with] {A}, {B} has {b} fewer[| {o}].",
            "{B} [had|got|found] {b} [fewer|less] {o} than {A}.",
        ),
        held_out=("{B} owns {b} fewer than {A}.",),
    ),
    "ctimes": Slot(
        base=(
            "{B} has {k} times as many {o} as {A}.",
            "{B} has {k} times as many as {A}.",
            "{B} owns {k} times as many as {A}.",
            "{B} holds {k} times as many {o} as {A} does.",
        ),
        extra=(
            "{B} [keeps|counts|collects|finds|stores] {k} times as many[| {o}] as {A}[| does].",
            "{B} has {k} times the [number|amount] of {o} [that {A} has|of {A}].",
            "Compared [to|with] {A}, {B} has {k} times as many[| {o}].",
        ),
        held_out=("{B} owns {k} times as many {o} as {A}.",),
    ),
    "qb": Slot(
        base=(
            "How many {o} does {B} have?",
            "Find the number of {o} {B} has.",
            "How many {o} does {B} own?",
            "How many are with {B}?",
        ),
        extra=(
            "How many {o} [belong to|are owned by] {B}?",
            "How many[| {o}] does {B} [keep|hold|get|count]?",
            "[Work out|Tell|Find] how many {o} {B} has.",
            "What is the number of {o} {B} has?",
        ),
        held_out=("How many {o} are with {B}?",),
    ),
    "qtog": Slot(
        base=(
            "How many {o} do they have together?",
            "How many {o} do {A} and {B} have in total?",
            "How many {o} are there together?",
            "What do {A} and {B} have together?",
        ),
        extra=(
            "How many {o} [do they|do the two|do both] [own|hold|have] [in all|altogether|in total]?",
            "How many {o} [is that|are there] [in total|altogether]?",
            "[Find|Work out] the total number of {o}[| of {A} and {B}| they have].",
            "How many {o} do {A} and {B} [own|hold] [together|in all|altogether]?",
        ),
        held_out=("How many {o} do {A} and {B} have together?",),
    ),
    "two": Slot(
        base=(
            "{A} has {a} {o} and {B} has {b} {o}.",
            "{A} has {a} {o}. {B} has {b}.",
            "{A} finds {a} {o} and {B} finds {b}.",
            "{A} owns {a} {o}. {B} owns {b} {o}.",
            "There are {a} {o} with {A} and {b} with {B}.",
        ),
        extra=(
            "{A} [collects|counts|keeps|buys|gets] {a} {o}[ and|, while|, but] "
            "{B} [collects|counts|keeps|buys|gets] {b}[| {o}].",
            "There are {a} {o} in the [box|bag|room] of {A} and {b} in the [box|bag|room] of {B}.",
            "{A} and {B} [have|own|find] {a} and {b} {o}.",
            "{A} [had|found|got] {a} {o}. {B} [had|found|got] {b}[| of them| {o}].",
        ),
        held_out=("{A} owns {a} {o} and {B} owns {b} {o}.",),
    ),
    "qdiff": Slot(
        base=(
            "How many more {o} does {W} have than {L}?",
            "How many fewer {o} does {L} have than {W}?",
            "What is the difference?",
            "How many more does {W} have?",
            "By how many {o} does {W} have more?",
        ),
        extra=(
            "By how many[| {o}] do they differ?",
            "How many more {o} [belong to {W}|are with {W}|does {W} own]?",
            "How many fewer[| {o}] does {L} have?",
            "[Find|Work out] the difference[| in {o}| between the two].",
            "How many {o} must {L} get to have as many as {W}?",
        ),
        held_out=("How many {o} more does {W} have?",),
    ),
    "cost": Slot(
        base=(
            "{A} buys {k} {i} for {n} dollars each",
            "{A} wants {k} {i} that cost {n} dollars each",
            "One of the {i} costs {n} dollars and {A} buys {k}",
            "{A} pays for {k} {i}, {n} dollars each",
            "{A} chooses {k} {i} at a price of {n} dollars each",
        ),
        extra=(
            "{A} [buys|orders|gets|takes] {k} {i} for {n} dollars [each|apiece]",
            "{A} [needs|takes|orders] {k} {i}[ at {n} dollars apiece|, each for {n} dollars]",
            "{A} [buys|needs|picks|finds] {k} {i} [that cost|priced at] {n} dollars each",
            "Each of {k} {i} costs {n} dollars and {A} [buys them|takes them all]",
            "The {i} cost {n} dollars each and {A} [takes|buys|needs|orders] {k}",
            "At {n} dollars each {A} [buys|orders|gets] {k} {i}",
        ),
        held_out=("{A} picks {k} {i} at {n} dollars each",),
    ),
    "qcost": Slot(
        base=(
            ". How many dollars does {A} spend?",
            ". What is the total price?",
            ". How much does {A} pay in total?",
            ". What is the cost?",
        ),
        extra=(
            ". How [many dollars|much money] does {A} [need|pay|spend in all]?",
            ". [Find|Work out] the [total price|cost|price].",
            ". What does {A} pay[| in all| in total]?",
            ". How many dollars do they cost[| in all| together]?",
        ),
        held_out=(". What is the total cost?",),
    ),
    "pay": Slot(
        base=(
            " and pays with {b} dollars. How much change does {A} get?",
            ". {A} has {b} dollars. How many dollars are left?",
            " and gives the shop {b} dollars. How many dollars come back?",
            ". {A} pays with {b} dollars. How much is left?",
        ),
        extra=(
            " and hands over {b} dollars. How [much|many dollars] does {A} get back?",
            ". [Before that|At first] {A} had {b} dollars. " + _LEFT,
            " and has {b} dollars[| to spend| in all]. " + _LEFT,
            ". {S} [has|had|pays with|gives] {b} dollars. " + _LEFT,
            " and pays with {b} dollars. " + _LEFT,
        ),
        held_out=(" and pays {b} dollars. How many dollars are left?",),
    ),
    "work": Slot(
        base=(
            "{A} earns {n} dollars a day and works {k} days.",
            "{A} works {k} days for {n} dollars a day.",
            "For {k} days {A} works for {n} dollars a day.",
            "{A} has a job for {k} days and gets {n} dollars each day.",
        ),
        extra=(
            "{A} [earns|makes|gets|is paid] {n} dollars [a|per|each|every] day for {k} days.",
            "{A} works {k} days and [earns|gets|makes] {n} dollars [a|per|each] day.",
            "{A} [works|helps out|has work|helps in a shop] for {k} days at {n} dollars [a|per] day.",
            "[Each|Every] day {A} [earns|gets|makes] {n} dollars, for {k} days.",
            "[A shop|A farmer|The baker] pays {A} {n} dollars [a|per] day for {k} days[| of work].",
            "The job of {A} [pays|brings] {n} dollars [a|per|each] day and lasts {k} days.",
            "For {n} dollars [a|per] day {A} works [for |]{k} days.",
            "{A} is paid {n} dollars for each of {k} days.",
            "During {k} days {A} [earns|makes|gets] {n} dollars [a|each|every] day.",
            "{A} [worked|helped out] {k} days and [earned|got|made] {n} dollars [a|each] day.",
        ),
        held_out=("{A} works for {n} dollars a day, {k} days long.",),
    ),
    "workspend": Slot(
        base=(
            "Then {A} spends {b} dollars. How many dollars are left?",
            "{A} pays {b} dollars for food. How much money is left?",
            "{A} buys a ticket for {b} dollars. How many dollars are left?",
            "{A} gives {b} dollars to a friend. How much money is left?",
        ),
        extra=(
            "[{A}|{S}] [spends|gives away|loses] {b} dollars[| at the shop| in a week]. " + _LEFT,
            "[{A}|{S}] spends {b} dollars on [food|toys|a trip|shoes]. " + _LEFT,
            "[{A}|{S}] pays {b} dollars for [rent|shoes|lunch|a bus ride]. " + _LEFT,
            "[{A}|{S}] buys [a coat|a bike|a book|a lamp|dinner] for {b} dollars. " + _LEFT,
            "A [coat|bike|book|lamp|dinner] costs {A} {b} dollars. " + _LEFT,
            "{b} dollars go to [a friend|{B}|the bank|the school]. " + _LEFT,
            "From this {A} pays [{B} {b} dollars|{b} dollars to {B}]. " + _LEFT,
        ),
        held_out=("Then {A} pays {b} dollars for a ticket. How much money is left?",),
    ),
    "qwork2": Slot(
        base=(
            "How many dollars more does one earn than the other?",
            "What is the difference in dollars?",
            "By how many dollars do they differ?",
            "How many dollars is the difference?",
        ),
        extra=(
            "By how [much|many dollars] do [their pays|the two pays] differ?",
            "How many dollars more is the larger pay?",
            "[Find|Work out] the difference[| in dollars| between the two| of the pays].",
            "What is the difference [between|of] the two pays?",
            "How many dollars more does one [get|make] than the other?",
        ),
        held_out=("What is the difference in what they earn?",),
    ),
}
