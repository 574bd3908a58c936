"""Files as services, banks, programs and well-known data sets write them, with their values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pytest

from tests.data.loading.encoded_records import pack


class Everyday(NamedTuple):
    """A file, and the records that a careful person reads in it; None is a missing value."""

    text: str
    columns: str
    rows: list[tuple[Any, ...]]
    suffix: str = ".csv"
    encoding: str = "utf-8"


TEXTS = {
    "numbers between blanks with ? as missing": Everyday(
        '18.0   8   307.0      130.0      3504.\t"chevrolet malibu"\n'
        '25.0   4   98.00      ?          2046.\t"ford pinto"\n'
        '21.0   6   200.0      ?          2875.\t"ford maverick"\n'
        '27.0   4   97.00      88.00      2130.\t"datsun pl510"\n',
        "column0 column1 column2 column3 column4 column5",
        [(18, 8, 307, 130, 3504, "chevrolet malibu"), (25, 4, 98, None, 2046, "ford pinto"),
         (21, 6, 200, None, 2875, "ford maverick"), (27, 4, 97, 88, 2130, "datsun pl510")],
    ),
    "two colons, one of them in a title": Everyday(
        "1::Toy (1995)::Comedy|Kids\n2::Grumpy, Old (1995)::Comedy\n"
        "3::Waiting: Hope (1995)::Drama\n",
        "column0 column1 column2",
        [(1, "Toy (1995)", "Comedy|Kids"), (2, "Grumpy, Old (1995)", "Comedy"),
         (3, "Waiting: Hope (1995)", "Drama")],
    ),
    "fixed width without names": Everyday(
        "ACW00011604  17.1167  -61.7833   10.1    ST JOHNS FLD\n"
        "AE000041196  25.3330   55.5170   34.0    SHARJAH AIRP\n"
        "AF000040930  35.3170   69.0170 3366.0    NORTH-SALANG\n"
        "AG000060390  36.7167    3.2500   24.0    ALGER-DAR\n"
        "WA011116000 -22.5667   17.1000 1728.0    WINDHOEK\n",
        "column0 column1 column2 column3 column4",
        [("ACW00011604", 17.1167, -61.7833, 10.1, "ST JOHNS FLD"),
         ("AE000041196", 25.333, 55.517, 34, "SHARJAH AIRP"),
         ("AF000040930", 35.317, 69.017, 3366, "NORTH-SALANG"),
         ("AG000060390", 36.7167, 3.25, 24, "ALGER-DAR"),
         ("WA011116000", -22.5667, 17.1, 1728, "WINDHOEK")],
    ),
    "more lines of remarks than rows": Everyday(
        '"Includes transactions of the shop"\n"All amounts in USD, unless specified"\n'
        '"Definitions:"\n'
        '"Sales tax: from buyers, for sales and shipping"\n"Fees: of sales"\n"Other: see below"\n'
        '"date","type","sku","total"\n"Jan 1, 2023","Order","S-1","16.99"\n'
        '"Jan 2, 2023","Order","S-2","1,104.50"\n"Jan 3, 2023","Refund","S-1","-17.49"\n',
        "date type sku total",
        [("Jan 1, 2023", "Order", "S-1", 16.99), ("Jan 2, 2023", "Order", "S-2", 1104.5),
         ("Jan 3, 2023", "Refund", "S-1", -17.49)],
    ),
    "a statement below pairs of names and values": Everyday(
        "Umsatzanzeige;Datei erstellt am: 01.02.2023\n;\n\nIBAN;DE12 5001\nKonto;Giro\n"
        "Bank;I-Bank\n"
        "Kunde;Max\nZeitraum;01.01.2023 - 31.01.2023\nSaldo;3.111,11;EUR\n\nAlle Umsätze.\n\n"
        "Buchung;Empfänger;Zweck;Betrag\n31.01.2023;Shop;NR 1;-45,60\n"
        "30.01.2023;Firma;Lohn;2.600,00\n"
        "29.01.2023;Bäcker;Brot;-3,20\n",
        "Buchung Empfänger Zweck Betrag",
        [("31.01.2023", "Shop", "NR 1", -45.6), ("30.01.2023", "Firma", "Lohn", 2600),
         ("29.01.2023", "Bäcker", "Brot", -3.2)],
        encoding="cp1252",
    ),
    "an empty row, a count in two cells and the seller": Everyday(
        '\n"Number","Title","Sold"\n,,\n"101","Lamp, green","£24.99"\n"102","Teapot","£9.50"\n'
        '"103","Bell","£1,250.00"\n3,record(s) downloaded,\nSeller ID : shop_uk,,\n',
        "Number Title Sold",
        [(101, "Lamp, green", 24.99), (102, "Teapot", 9.5), (103, "Bell", 1250)],
    ),
    "a total, and a remark after an empty row": Everyday(
        "Sales,,,\nJanuary,,,\n\nDate,Type,Product,Amount\n01/05/2023,Invoice,Rocks,\"1,200.00\"\n"
        "01/15/2023,Invoice,Pump,15.00\n02/11/2023,Receipt,Design,-75.50\nTOTAL,,,\"$1,139.50\"\n\n,,,\n"
        '"Friday, Mar 31, 2023 - Accrual Basis",,,\n',
        "Date Type Product Amount",
        [("01/05/2023", "Invoice", "Rocks", 1200), ("01/15/2023", "Invoice", "Pump", 15),
         ("02/11/2023", "Receipt", "Design", -75.5)],
    ),
    "totals with dashes for their other cells": Everyday(
        "Report\nStatus,Campaign,Clicks,CPC\nEnabled,Brand,\"1,204\",0.41\nPaused,Shoes,310,0.88\n"
        "Enabled,Generic,0, --\nTotal: Account, --,\"1,514\",0.51\n"
        "Total: Campaigns, --,\"1,514\",0.51\n",
        "Status Campaign Clicks CPC",
        [("Enabled", "Brand", 1204, 0.41), ("Paused", "Shoes", 310, 0.88),
         ("Enabled", "Generic", 0, None)],
    ),
    "amounts of accounts": Everyday(
        'Item,Price\nDesk,"$1,200.00"\nLamp,$ -\nRefund,$(45.50)\nReturn,($4.50)\nChair,$89.99\n',
        "Item Price",
        [("Desk", 1200), ("Lamp", 0), ("Refund", -45.5), ("Return", -4.5), ("Chair", 89.99)],
    ),
    "a log that names its fields": Everyday(
        "#Software: Server 10\n#Version: 1.0\n#Fields: date time method stem status\n"
        "2023-01-01 00:00:01 GET /a 200\n2023-01-01 00:00:02 GET /b 404\n"
        "2023-01-01 00:00:03 POST /c 500\n",
        "date time method stem status",
        [("2023-01-01", "00:00:01", "GET", "/a", 200), ("2023-01-01", "00:00:02", "GET", "/b", 404),
         ("2023-01-01", "00:00:03", "POST", "/c", 500)],
    ),
    "moments between blanks": Everyday(
        "time level module\n2023-01-01T10:00:00Z INFO web\n2023-01-01T10:00:01Z WARN db\n"
        "2023-01-01T10:00:02Z INFO web\n",
        "time level module",
        [("2023-01-01T10:00:00Z", "INFO", "web"), ("2023-01-01T10:00:01Z", "WARN", "db"),
         ("2023-01-01T10:00:02Z", "INFO", "web")],
    ),
    "a box with the types of its columns": Everyday(
        "┌───────┬─────────┬────────┐\n│  id   │  name   │ price  │\n│ int32 │ varchar │ double │\n"
        "├───────┼─────────┼────────┤\n│     1 │ Desk    │   12.5 │\n│     2 │ Lamp    │   NULL │\n"
        "└───────┴─────────┴────────┘\n",
        "id name price",
        [(1, "Desk", 12.5), (2, "Lamp", None)],
    ),
    "a box with types below a line": Everyday(
        "shape: (2, 2)\n┌─────┬───────┐\n│ id  ┆ price │\n│ --- ┆ ---   │\n│ i64 ┆ f64   │\n"
        "╞═════╪═══════╡\n│ 1   ┆ 12.5  │\n│ 2   ┆ null  │\n└─────┴───────┘\n",
        "id price", [(1, 12.5), (2, None)],
    ),
    "lines of pairs": Everyday(
        'ts=T10 level=info msg="started, ok" ms=12\nts=T11 level=warn msg="slow \\"x\\"" ms=120\n'
        "ts=T12 level=info ms=3\n",
        "ts level msg ms",
        [("T10", "info", "started, ok", 12), ("T11", "warn", 'slow "x"', 120),
         ("T12", "info", None, 3)],
    ),
    "two rows of names that fill each other's gaps": Everyday(
        "ID,Start,How?,Use?,,\n,,Response,Email,Phone,Chat\n1180,May 1,Good,Email,,Chat\n"
        "1181,May 1,Bad,,Phone,\n1182,May 2,Good,Email,Phone,\n",
        "ID|Start|How? Response|Use? Email|Use? Phone|Use? Chat",
        [(1180, "May 1", "Good", "Email", None, "Chat"),
         (1181, "May 1", "Bad", None, "Phone", None),
         (1182, "May 2", "Good", "Email", "Phone", None)],
    ),
    "rows that describe the columns of a survey": Everyday(
        'Start,Q1\nStart Date,"How are you, today?"\n"{""ImportId"":""start""}"'
        ',"{""ImportId"":""Q1""}"\n'
        "2023-05-01,Good\n2023-05-02,Bad\n",
        "Start Q1", [("2023-05-01", "Good"), ("2023-05-02", "Bad")],
    ),
    "amounts in the first row below the names": Everyday(
        'Metric,Jan,Feb,Mar\nRevenue,"$12,000","$13,500","$11,250"\nMargin,45.1%,44.0%,46.7%\n'
        "Units,120,133,101\n",
        "Metric Jan Feb Mar",
        [("Revenue", "$12,000", "$13,500", "$11,250"), ("Margin", "45.1%", "44.0%", "46.7%"),
         ("Units", "120", "133", "101")],
    ),
    "a rule and a remark below the table": Everyday(
        "Jahr;Index;Rate\n2019;99,5;+1,4\n2020;100,0;+0,5\n2021;103,1;+3,1\n__________;;\n"
        "© Amt, 2023;;\n",
        "Jahr Index Rate", [(2019, 99.5, 1.4), (2020, 100, 0.5), (2021, 103.1, 3.1)],
    ),
    "amounts in liras": Everyday(
        "Kod;Ad;Fiyat\nA1;Masa;1.234,50 TL\nA2;Sandalye;199,00 TL\nA3;Lamba;49,90 TL\n",
        "Kod Ad Fiyat", [("A1", "Masa", 1234.5), ("A2", "Sandalye", 199), ("A3", "Lamba", 49.9)],
    ),
    "an array in each line": Everyday(
        '["id","name"]\n[1,"Desk"]\n[2,"Lamp"]\n', "id name", [(1, "Desk"), (2, "Lamp")], ".ndjson",
    ),
    "quotes around a part of a value": Everyday(
        'id\tname\tyear\n1\tFred A\t1899\n2\t"Kid" B\t1924\n3\tNull C\t\\N\n',
        "id name year", [(1, "Fred A", 1899), (2, '"Kid" B', 1924), (3, "Null C", None)],
    ),
    "dimensions in the first column, and flags after numbers": Everyday(
        "unit,geo\\time\t2018 \t2019 \nA,AT\t8822267 \t8858775 \nA,BE\t11398589 b\t: \n"
        "A,DE\t: c\t83019213 \nA,FR\t67026224 ep\t-1.5 \n",
        "unit geo 2018 2019",
        [("A", "AT", 8822267, 8858775), ("A", "BE", 11398589, None),
         ("A", "DE", None, 83019213), ("A", "FR", 67026224, -1.5)],
        ".tsv",
    ),
    "codes that are written as formulas": Everyday(
        'id,isbn,isbn13,title\n1,"=""0441013597""","=""9780441013593""",Dune\n'
        '2,"=""""","=""""",Emma\n3,"=""044100X""","=""9780441013593""","say ""hi"""\n',
        "id isbn isbn13 title",
        [(1, "0441013597", "9780441013593", "Dune"), (2, None, None, "Emma"),
         (3, "044100X", "9780441013593", 'say "hi"')],
    ),
    "a row of units below the names": Everyday(
        "time,temp,rh,pressure\ns,degC,%,hPa\n0,20.1,45,1013.2\n60,20.3,46,1013.1\n"
        "120,20.2,44,1013.0\n",
        "time temp rh pressure",
        [(0, 20.1, 45, 1013.2), (60, 20.3, 46, 1013.1), (120, 20.2, 44, 1013)],
    ),
    "units in brackets, and words for none": Everyday(
        "station;date;wind;rain\n[-];[UTC];[m/s];[mm/h]\nA1;2023-05-01;3.5;0.1\n"
        "A1;2023-05-02;4.5;0.0\nB2;2023-05-03;2.0;1.2\n",
        "station date wind rain",
        [("A1", "2023-05-01", 3.5, 0.1), ("A1", "2023-05-02", 4.5, 0),
         ("B2", "2023-05-03", 2, 1.2)],
    ),
    "texts above numbers that are no units": Everyday(
        "name,size,rating\nA,big,good\nB,3,4\nC,5,2\nD,6,1\n",
        "name size rating",
        [("A", "big", "good"), ("B", "3", "4"), ("C", "5", "2"), ("D", "6", "1")],
    ),
    "errors of formulas in columns of texts": Everyday(
        "id,name,country,rate\n1,Desk,#REF!,1.5\n2,#NAME?,DE,#DIV/0!\n3,Lamp,#WERT!,2.5\n",
        "id name country rate",
        [(1, "Desk", None, 1.5), (2, None, "DE", None), (3, "Lamp", None, 2.5)],
    ),
    "units in words above two columns": Everyday(
        "depth,salinity\nmetres,g/kg\n0,35.1\n10,35.2\n20,35.15\n", "depth salinity",
        [(0, 35.1), (10, 35.2), (20, 35.15)],
    ),
    "a unit in brackets above one column": Everyday(
        "sample,mass\n,(mg)\nS1,12.5\nS2,13.1\nS3,9.7\n", "sample mass",
        [("S1", 12.5), ("S2", 13.1), ("S3", 9.7)],
    ),
    "directions in words, and a word for no unit": Everyday(
        "time,latitude,longitude,temp\nUTC,degrees_north,degrees_east,degree_C\n"
        "2023-05-01T00:00:00Z,51.99,-6.7,10.3\n2023-05-01T01:00:00Z,51.99,-6.7,NaN\n"
        "2023-05-01T02:00:00Z,51.99,-6.7,10.5\n",
        "time latitude longitude temp",
        [("2023-05-01T00:00:00Z", 51.99, -6.7, 10.3), ("2023-05-01T01:00:00Z", 51.99, -6.7, None),
         ("2023-05-01T02:00:00Z", 51.99, -6.7, 10.5)],
    ),
    "numbers of channels above their units": Everyday(
        "x-axis,1,2\nsecond,Volt,Volt\n-1.0E-03,0.021,0.5\n-9.0E-04,0.023,0.51\n"
        "-8.0E-04,0.019,0.49\n",
        "x-axis 1 2", [(-1e-3, 0.021, 0.5), (-9e-4, 0.023, 0.51), (-8e-4, 0.019, 0.49)],
    ),
    "words in the first row that are no units": Everyday(
        "maths,art\nabsent,ill\n12,15\n9,11\n14,8\n10,10\n", "maths art",
        [("absent", "ill"), ("12", "15"), ("9", "11"), ("14", "8"), ("10", "10")],
    ),
    "facts of a series between its names and its values": Everyday(
        '"Title","Index of prices"\n"Code","D7BT"\n"Source","MM23"\n"PreUnit",""\n'
        '"Unit","Index, base = 100"\n"Release","19-04-2023"\n"Next","24 May 2023"\n"Notes",\n'
        '"2019","107.8"\n"2020","108.7"\n"2021","111.6"\n"2022","121.7"\n',
        "Title\0Index of prices", [(2019, 107.8), (2020, 108.7), (2021, 111.6), (2022, 121.7)],
    ),
    "M for missing numbers, and in columns of texts": Everyday(
        "station,valid,tmpf,drct,gust,sky,codes\nDSM,2023-01-01 00:54,33.98,310.00,M,OVC,M\n"
        "DSM,2023-01-01 01:54,33.98,M,M,CLR,BR\nAMW,2023-01-01 01:55,M,300.00,18.00,M,M\n"
        "AMW,2023-01-01 02:55,33.80,310.00,M,BKN,-SN\n",
        "station valid tmpf drct gust sky codes",
        [("DSM", "2023-01-01 00:54", 33.98, 310, None, "OVC", None),
         ("DSM", "2023-01-01 01:54", 33.98, None, None, "CLR", "BR"),
         ("AMW", "2023-01-01 01:55", None, 300, 18, None, None),
         ("AMW", "2023-01-01 02:55", 33.8, 310, None, "BKN", "-SN")],
    ),
    "M for a size and a sex": Everyday(
        "name,sex,size,age\nAnn,F,38,31\nBob,M,M,42\nCid,M,40,27\nDan,M,M,35\n",
        "name sex size age",
        [("Ann", "F", "38", 31), ("Bob", "M", "M", 42), ("Cid", "M", "40", 27),
         ("Dan", "M", "M", 35)],
    ),
    "M for a size": Everyday(
        "sku,size\nA,36\nB,M\nC,38\nD,M\n", "sku size",
        [("A", "36"), ("B", "M"), ("C", "38"), ("D", "M")],
    ),
    "M for a sex where it is also a missing number": Everyday(
        "id,sex,iron,zinc\n1,M,12.5,M\n2,F,M,9.5\n3,M,M,8.0\n4,F,11.0,M\n", "id sex iron zinc",
        [(1, "M", 12.5, None), (2, "F", None, 9.5), (3, "M", None, 8), (4, "F", 11, None)],
    ),
    "a word of the weather service of France": Everyday(
        "station;pmer;t\nA;101890;284.15\nB;101910;mq\nC;mq;285.05\nD;101850;283.85\n",
        "station pmer t",
        [("A", 101890, 284.15), ("B", 101910, None), ("C", None, 285.05), ("D", 101850, 283.85)],
    ),
    "missing values of Stata with their letters": Everyday(
        "id,wage,hours\n1,11.7,48\n2,6.4,.\n3,.a,40\n4,5.0,.b\n", "id wage hours",
        [(1, 11.7, 48), (2, 6.4, None), (3, None, 40), (4, 5, None)],
    ),
    "signs of statistics offices in brackets": Everyday(
        "area,count\nA,120\nB,[c]\nC,[x]\nD,95\n", "area count",
        [("A", 120), ("B", None), ("C", None), ("D", 95)],
    ),
    "groups with totals above a remark": Everyday(
        "Craig's Shop\nProfit and Loss\n\n,Jan,Feb,Total\nIncome,,,\n   Design,"
        '"1,200.00",337.50,"1,537.50"\n   Control,,40.00,40.00\nTotal Income,'
        '"$1,200.00",$377.50,"$1,577.50"\nGross Profit,"$1,200.00",$377.50,"$1,577.50"\n\n\n'
        '"Friday, May 05, 2023 - Cash Basis"\n',
        "column0 Jan Feb Total",
        [("Income", None, None, None), ("   Design", 1200, 337.5, 1537.5),
         ("   Control", None, 40, 40), ("Total Income", 1200, 377.5, 1577.5),
         ("Gross Profit", 1200, 377.5, 1577.5)],
    ),
    "cells that blanks fill up": Everyday(
        "id;name;price;town\n1;Desk      ;   12.50;Rome   \n2;Lamp      ;    7.00;Oslo   \n"
        "3;Long chair;  120.00;Vilnius\n",
        "id name price town",
        [(1, "Desk", 12.5, "Rome"), (2, "Lamp", 7, "Oslo"), (3, "Long chair", 120, "Vilnius")],
    ),
    "rows without a value": Everyday(
        'a,b\n1,x\n,\n2,y\n"",""\n3,z\n,\n,\n', "a b", [(1, "x"), (2, "y"), (3, "z")],
    ),
    "letters of old programs of the Mac": Everyday(
        "Nom;Ville\rÉlodie;Besançon\rNoël;Orléans\rFrançoise;Nîmes\rJérôme;Évian\r", "Nom Ville",
        [("Élodie", "Besançon"), ("Noël", "Orléans"), ("Françoise", "Nîmes"), ("Jérôme", "Évian")],
        encoding="mac_roman",
    ),
    "a table of two columns below titles, above as many remarks": Everyday(
        "Table 7\nHarvest of apples, by year\nPreliminary results\nYear;Harvest\n;t\n2019;8301\n"
        "2020;8316\n2021;8315\n__________\nAs of 2020: new method.\nOffice of harvests, 2023\n"
        "Created: 2023-05-31 / 10:11\n",
        "Year Harvest", [(2019, 8301), (2020, 8316), (2021, 8315)],
    ),
    "groups of columns above a header, and remarks in Portuguese": Everyday(
        '"Tabela 12 - Escolas"\n"Variável - Escolas (Unidades)"\n"Cidade","Ano"\n'
        '"Cidade","2020","2021"\n"Belém","227","225"\n"Natal","109","111"\n"Recife","51","..."\n'
        '"Fonte: Instituto de Escolas"\n"Notas"\n"1 - Data de referência em julho"\n',
        "Cidade 2020 2021",
        [("Belém", 227, 225), ("Natal", 109, 111), ("Recife", 51, None)],
    ),
    "a row of types below the names": Everyday(
        "day\tid\tpage\tseconds\nDate\tUInt64\tLowCardinality(String)\tNullable(Float64)\n"
        "2023-05-01\t41\t/a\t1.5\n2023-05-02\t12\t/b\t\\N\n2023-05-03\t13\t/c\t2\n",
        "day id page seconds",
        [("2023-05-01", 41, "/a", 1.5), ("2023-05-02", 12, "/b", None),
         ("2023-05-03", 13, "/c", 2)], ".tsv",
    ),
    "a row of words for types that is a row": Everyday(
        "column,kind\ndate,text\nday,date\nqty,number\n", "column kind",
        [("date", "text"), ("day", "date"), ("qty", "number")],
    ),
    "tabs that end long numbers between blanks": Everyday(
        "number     ,order    ,time                 ,amount  ,\n"
        "2023050122001400001 \t,T200 \t,2023-05-01 10:11:12 ,45.00   ,\n"
        "2023050222001400002 \t, \t,2023-05-02 10:11:12 ,1200.50 ,\n"
        "2023050322001400003 \t,T203 \t,2023-05-03 10:11:12 ,7.90    ,\n",
        "number order time amount",
        [("2023050122001400001", "T200", "2023-05-01 10:11:12", 45),
         ("2023050222001400002", None, "2023-05-02 10:11:12", 1200.5),
         ("2023050322001400003", "T203", "2023-05-03 10:11:12", 7.9)],
    ),
    "tabs that end the cells of one column": Everyday(
        "order,item\n0012345\t,Desk\n0012346\t,Lamp\n0012347\t,Bell\n", "order item",
        [("0012345", "Desk"), ("0012346", "Lamp"), ("0012347", "Bell")],
    ),
    "prompts of a database client": Everyday(
        "\nSQL> select empno, ename, sal from emp;\n\n     EMPNO ENAME             SAL\n"
        "---------- ---------- ----------\n      7369 SMITH             800\n"
        "      7499 ALLEN            1600\n\n2 rows selected.\n\nSQL> spool off\n",
        "EMPNO ENAME SAL", [(7369, "SMITH", 800), (7499, "ALLEN", 1600)], ".lst",
    ),
    "one blank between names that cells of different lengths follow": Everyday(
        "USER         PID STAT START   COMMAND\nroot           1 Ss   May01   /sbin/init splash\n"
        "ann         2301 Sl+  10:11   python -m x\nwww          801 S    May01   nginx: worker\n",
        "USER PID STAT START COMMAND",
        [("root", 1, "Ss", "May01", "/sbin/init splash"),
         ("ann", 2301, "Sl+", "10:11", "python -m x"),
         ("www", 801, "S", "May01", "nginx: worker")], ".txt",
    ),
    "one blank inside of a name": Everyday(
        "Size  Mounted on     Kind\n7.8G  /dev           a b\n468G  /              c d\n"
        "1.6G  /run/user/100  e\n",
        "Size|Mounted on|Kind",
        [("7.8G", "/dev", "a b"), ("468G", "/", "c d"), ("1.6G", "/run/user/100", "e")], ".txt",
    ),
    "Latin letters in names of a Korean table": Everyday(
        '"노드ID","번호","이름","X좌표","Y좌표","수"\r\n"100","01001","종로2가사거리","126.98","37.5","1,204"\r\n'
        '"200","01002","창경궁","126.99","37.6","980"\r\n"300","01003","명륜3가","126.91","37.7","3,077"\r\n',
        "노드ID 번호 이름 X좌표 Y좌표 수",
        [(100, "01001", "종로2가사거리", 126.98, 37.5, 1204),
         (200, "01002", "창경궁", 126.99, 37.6, 980),
         (300, "01003", "명륜3가", 126.91, 37.7, 3077)], ".csv", "cp949",
    ),
    "a count of records in several cells below the rows": Everyday(
        "n,order,user,zip,item,label\n1204,A-1,ann,02139,7,x\n1205,A-2,bob,10001,7,\n"
        "1206,A-3,cid,94103,8,\n\n3,record(s) downloaded,from shop_x\n",
        "n order user zip item label",
        [(1204, "A-1", "ann", "02139", 7, "x"), (1205, "A-2", "bob", "10001", 7, None),
         (1206, "A-3", "cid", "94103", 8, None)],
    ),
    "names in a comment above numbers between blanks": Everyday(
        "# measured in May.\n# t x y\n0.0e+00 1.0 2.5e-01\n1.0e-01 1.2 2.4e-01\n"
        "2.0e-01 1.4 2.3e-01\n",
        "t x y", [(0, 1, 0.25), (0.1, 1.2, 0.24), (0.2, 1.4, 0.23)], ".txt",
    ),
    "a sentence above numbers between blanks": Everyday(
        "# made by Jo.\n0.0 1.0 2.5e-01\n0.1 1.2 2.4e-01\n0.2 1.4 2.3e-01\n",
        "column0 column1 column2", [(0, 1, 0.25), (0.1, 1.2, 0.24), (0.2, 1.4, 0.23)], ".txt",
    ),
    "names in a comment above aligned columns": Everyday(
        "# packages of /opt/x:\n#\n# Name               Version         Build  Channel\n"
        "numpy                1.26.4     py311h64a7  forge\nopenssl              3.2.1"
        "        hd5903_0  forge\nrequests             2.31.0         pypi_0  pypi\n",
        "Name Version Build Channel",
        [("numpy", "1.26.4", "py311h64a7", "forge"), ("openssl", "3.2.1", "hd5903_0", "forge"),
         ("requests", "2.31.0", "pypi_0", "pypi")], ".txt",
    ),
    "a title above aligned columns": Everyday(
        "Open connections (servers and clients)\nProto Queue Wait Local Address           State\n"
        "tcp       0    0 0.0.0.0:22              LISTEN\n"
        "tcp       0   36 10.0.0.5:22             ESTABLISHED\n"
        "udp       0    0 127.0.0.1:323           OPEN\n",
        "Proto|Queue|Wait|Local Address|State",
        [("tcp", 0, 0, "0.0.0.0:22", "LISTEN"), ("tcp", 0, 36, "10.0.0.5:22", "ESTABLISHED"),
         ("udp", 0, 0, "127.0.0.1:323", "OPEN")], ".txt",
    ),
    "aligned values beside dates and times": Everyday(
        "".join(f"2023-05-0{n} 10:11:12 {size:>10} data/{name}\n" for n, size, name in (
            (1, 1204, "a.csv"), (2, 880120, "b c.csv"), (3, 77, "x"), (4, 0, "y"), (5, 9, "z"))),
        "column0 column1 column2 column3",
        [(f"2023-05-0{n}", "10:11:12", size, f"data/{name}") for n, size, name in (
            (1, 1204, "a.csv"), (2, 880120, "b c.csv"), (3, 77, "x"), (4, 0, "y"), (5, 9, "z"))],
        ".txt",
    ),
    "blanks before two blanks in texts of a delimited file": Everyday(
        "name,remark\nA,x  y\nB,x  z\nC,x  w\n", "name remark",
        [("A", "x  y"), ("B", "x  z"), ("C", "x  w")],
    ),
    "a point that blanks fill up": Everyday(
        '"ID";"Period";"Men"\n0;"1950JJ00";4998251\n1;"1960JJ00";5686152\n2;"2023JJ00";       .\n',
        "ID Period Men",
        [(0, "1950JJ00", 4998251), (1, "1960JJ00", 5686152), (2, "2023JJ00", None)],
    ),
    "facts below the codes of series": Everyday(
        '"";USD.EUR.A;USD.EUR.A_FLAGS\n"";"Rate of USD";\nUnit;"USD (US-Dollar)";\n'
        'As of;"31.05.2023 10:11:12";\n2023-01;1,0769;\n2023-02;1,0715;\n2023-03;.;none known\n'
        "2023-04;1,0968;\n", "column0 USD.EUR.A USD.EUR.A_FLAGS",
        [("2023-01", 1.0769, None), ("2023-02", 1.0715, None), ("2023-03", None, "none known"),
         ("2023-04", 1.0968, None)],
    ),
    "names with the mark of comments, and empty last cells": Everyday(
        "Bank S.A.;\n90-959 Town;\n\n#Client;\nANN NOVAK;\n\n#From:;\n01.05.2023;31.05.2023;\n"
        '#Date;#Text;#Account;#Kind;#Sum;\n2023-05-31;"SHOP   A";"x 1";"Food";-23,50;;\n'
        '2023-05-30;"PAY";"x 1";"Pay";8200,00;;\n2023-05-29;"RENT";"x 1";"Rent";-1950,00;;\n\n'
        "#Balance;12 345,67;\n", "#Date #Text #Account #Kind #Sum column5",
        [("2023-05-31", "SHOP   A", "x 1", "Food", -23.5, None),
         ("2023-05-30", "PAY", "x 1", "Pay", 8200, None),
         ("2023-05-29", "RENT", "x 1", "Rent", -1950, None)],
    ),
    "titles above three columns that end with a separator": Everyday(
        "Account;DE12;\nBalance;12,50 EUR;\nDay;Text;Sum;\n1.5.2023;Shop;-2,50;\n"
        "2.5.2023;Pay;100,00;\n3.5.2023;Rent;-50,00;\n4.5.2023;Shop;-1,20;\n", "Day Text Sum",
        [("1.5.2023", "Shop", -2.5), ("2.5.2023", "Pay", 100), ("3.5.2023", "Rent", -50),
         ("4.5.2023", "Shop", -1.2)],
    ),
    "short Chinese words, which are bytes of Thai letters, too": Everyday(
        '"订单编号","买家会员名","订单状态","收货人姓名","订单创建时间"\n"A-1","ann","交易成功","王小明","5-1"\n'
        '"A-2","bob","交易关闭","李雷","5-2"\n"A-3","cid","交易成功","韩梅梅","5-3"\n',
        "订单编号 买家会员名 订单状态 收货人姓名 订单创建时间",
        [("A-1", "ann", "交易成功", "王小明", "5-1"), ("A-2", "bob", "交易关闭", "李雷", "5-2"),
         ("A-3", "cid", "交易成功", "韩梅梅", "5-3")], ".csv", "gb18030",
    ),
}  # fmt: skip

RECORDED = json.loads(Path(__file__).with_name("recorded_exports.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_text_files_are_read_as_a_careful_person_reads_them(tmp_path: Path) -> None:
    assert _read_wrongly(TEXTS, tmp_path) == {}


@pytest.mark.slow
def test_recorded_exports_are_read_as_a_careful_person_reads_them(tmp_path: Path) -> None:
    """Layouts of banks, shops, statistics offices, sensors, logs, clients and other locales."""
    files = {
        file["name"]: Everyday(
            "".join(file["text"]), "\0".join(file["columns"]), [*map(tuple, file["rows"])],
            file["suffix"], file["encoding"],
        )
        for file in RECORDED
    }  # fmt: skip

    assert _read_wrongly(files, tmp_path) == {}


def _read_wrongly(files: dict[str, Everyday], folder: Path) -> dict[str, Any]:
    wrong = {}
    for number, (name, file) in enumerate(files.items()):
        path = folder / f"{number}{file.suffix}"
        path.write_bytes(file.text.encode(file.encoding))
        separator = next((mark for mark in "\0|" if mark in file.columns), None)
        columns = file.columns.split(separator)
        packed = pack(path)
        records = [{k: v for k, v in r.items() if k != "objectID"} for r in packed.records]
        expected = [
            {k: v for k, v in zip(columns, row, strict=True) if v is not None} for row in file.rows
        ]
        if records != expected:
            wrong[name] = records, packed.plan.notes
    return wrong


NAMED = [{"id": 1, "name": "Desk", "price": 12.5}, {"id": 2, "name": "Lamp", "price": None}]
FIRESTORE = {
    "documents": [
        {
            "name": f"projects/p/databases/d/documents/items/k{row['id']}",
            "fields": {
                "id": {"integerValue": str(row["id"])},
                "name": {"stringValue": row["name"]},
                "price": {"doubleValue": row["price"]} if row["price"] else {"nullValue": None},
                "tags": {"arrayValue": {"values": [{"stringValue": "a"}]}},
                "box": {"mapValue": {"fields": {"w": {"integerValue": "3"}}}},
            },
            "createTime": "2023-01-01T00:00:00Z",
        }
        for row in NAMED
    ]
}
BIGQUERY_FIELDS = [
    {"name": "id", "type": "STRING"}, {"name": "n", "type": "INTEGER"},
    {"name": "price", "type": "FLOAT"}, {"name": "sold", "type": "BOOLEAN"},
    {"name": "tags", "type": "STRING", "mode": "REPEATED"}, {"name": "at", "type": "TIMESTAMP"},
    {"name": "box", "type": "RECORD", "fields": [{"name": "w", "type": "INTEGER"}]},
]  # fmt: skip
BIGQUERY_ROWS = [
    ("a", "9007199254740993", "1.5", "true", [{"v": "x"}], "1.6094592E9", {"f": [{"v": "3"}]}),
    ("b", None, "2", "false", [], "1609459200000000", None),
]
CHART_ROWS = [({"v": "Rome"}, {"v": "Date(2020,0,5)"}, {"v": 3, "f": "3.00"}),
              ({"v": "Oslo"}, None, {"v": 4.5})]  # fmt: skip
DOCUMENTS: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "cells of BigQuery": (
        {"kind": "bigquery#queryResponse", "schema": {"fields": BIGQUERY_FIELDS}, "totalRows": "2",
         "rows": [{"f": [{"v": value} for value in row]} for row in BIGQUERY_ROWS],
         "jobComplete": True},
        [{"id": "a", "n": 9007199254740993, "price": 1.5, "sold": True, "tags": ["x"],
          "at": "2021-01-01T00:00:00Z", "box": {"w": 3}},
         {"id": "b", "price": 2, "sold": False, "tags": [], "at": "2021-01-01T00:00:00Z"}],
    ),
    "the children of a listing": (
        {"kind": "Listing", "data": {"after": "x", "dist": 2, "children": [
            {"kind": "t3", "data": {"id": "a", "score": 5}},
            {"kind": "t3", "data": {"id": "b", "score": 7}}]}},
        [{"id": "a", "score": 5}, {"id": "b", "score": 7}],
    ),
    "cells of a chart": (
        {"version": "0.6", "table": {
            "cols": [{"id": "A", "label": "city", "type": "string"},
                     {"id": "B", "label": "day", "type": "date"}, {"id": "C", "type": "number"}],
            "rows": [{"c": [*row]} for row in CHART_ROWS]}},
        [{"city": "Rome", "day": "2020-01-05", "C": 3}, {"city": "Oslo", "C": 4.5}],
    ),
    "arrays without names": (
        [[1, "Desk", 12.5], [2, "Lamp", 7.0], [3, "Chair", None]],
        [{"column0": 1, "column1": "Desk", "column2": 12.5},
         {"column0": 2, "column1": "Lamp", "column2": 7.0}, {"column0": 3, "column1": "Chair"}],
    ),
    "arrays below names, one of them a word for a missing value": (
        [["date", "open", "NA"], ["2023-01-01", 1.5, 3], ["2023-01-02", 2.5, 4]],
        [{"date": "2023-01-01", "open": 1.5, "NA": 3},
         {"date": "2023-01-02", "open": 2.5, "NA": 4}],
    ),
    "the values of a range of cells": (
        {"range": "A1:B4", "majorDimension": "ROWS",
         "values": [["SKU", "Name"], ["001", "Desk"], ["002", "Lamp"], ["003"]]},
        [{"SKU": "001", "Name": "Desk"}, {"SKU": "002", "Name": "Lamp"}, {"SKU": "003"}],
    ),
    "rows named far away": (
        {"meta": {"view": {"id": "a-1", "columns": [{"name": "sid"}, {"name": "Name"}]}},
         "data": [["row-1", "Park A"], ["row-2", "Park B"]]},
        [{"sid": "row-1", "Name": "Park A"}, {"sid": "row-2", "Name": "Park B"}],
    ),
    "columns beside facts": (
        {"latitude": 48.2, "units": {"time": "iso8601", "temp": "C"},
         "hourly": {"time": ["T00", "T01", "T02"], "temp": [1.5, 1.2, 0.9]}},
        [{"time": "T00", "temp": 1.5}, {"time": "T01", "temp": 1.2}, {"time": "T02", "temp": 0.9}],
    ),
    "documents with types": (
        FIRESTORE,
        [{"objectID": "k1", "id": 1, "name": "Desk", "price": 12.5, "tags": ["a"], "box": {"w": 3}},
         {"objectID": "k2", "id": 2, "name": "Lamp", "tags": ["a"], "box": {"w": 3}}],
    ),
    "an exported table": (
        [{"type": "header", "version": "5"}, {"type": "database", "name": "shop"},
         {"type": "table", "name": "t", "data": [{"id": "1"}, {"id": "2"}]}],
        [{"id": "1"}, {"id": "2"}],
    ),
    "a page of a response after its description": (
        [{"page": 1, "total": 2}, [{"geo": {"id": "AT"}, "value": 1.5}, {"geo": {"id": "BE"}}]],
        [{"geo": {"id": "AT"}, "value": 1.5}, {"geo": {"id": "BE"}}],
    ),
    "pages": ([[{"n": 1}, {"n": 2}], [{"n": 3}]], [{"n": 1}, {"n": 2}, {"n": 3}]),
    "objects by date beside facts": (
        {"Meta": {"symbol": "X"}, "Daily": {"2024-01-02": {"open": 1, "close": 2},
                                            "2024-01-01": {"open": 3, "close": 4}}},
        [{"objectID": "2024-01-02", "open": 1, "close": 2},
         {"objectID": "2024-01-01", "open": 3, "close": 4}],
    ),
    "many messages beside their writers": (
        {"participants": [{"name": "Ann"}, {"name": "Bob"}],
         "messages": [{"sender": "Ann", "at": n, "text": f"a longer text {n}"} for n in range(40)]},
        [{"sender": "Ann", "at": n, "text": f"a longer text {n}"} for n in range(40)],
    ),
    "one record with rows of numbers": (
        {"id": 7, "values": [[1, 2], [3, 4]]}, [{"id": 7, "values": [[1, 2], [3, 4]]}],
    ),
}  # fmt: skip


@pytest.mark.slow
def test_documents_are_read_as_a_careful_person_reads_them(tmp_path: Path) -> None:
    wrong = {}
    for number, (name, (content, expected)) in enumerate(DOCUMENTS.items()):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        packed = pack(path)
        ids = {"objectID"} - {*expected[0]}
        records = [{k: v for k, v in r.items() if k not in ids} for r in packed.records]
        if records != expected:
            wrong[name] = records, packed.plan.notes

    assert wrong == {}


SHEETS: dict[str, tuple[list[tuple[Any, ...]], str, list[tuple[Any, ...]]]] = {
    "no header": (
        [("A-1", "Desk", 12.5), ("A-2", "Lamp", 7.0), ("A-3", "Chair", 9.9), ("A-4", "Shelf", 1.5)],
        "column0 column1 column2",
        [("A-1", "Desk", 12.5), ("A-2", "Lamp", 7.0), ("A-3", "Chair", 9.9), ("A-4", "Shelf", 1.5)],
    ),
    "years in the header": (
        [("Account", 2021, 2022), ("Sales", 100.5, 120.0), ("Costs", -45.5, -50.0),
         ("Net", 55, 70)],
        "Account 2021 2022",
        [("Sales", 100.5, 120.0), ("Costs", -45.5, -50.0), ("Net", 55, 70)],
    ),
    "names and values above, a remark below, an empty first column": (
        [(None, "Price list"), (None, "Valid from:", "May"), (), (None, "SKU", "Name", "Price"),
         (None, "001", "Desk", 12.5), (None, "002", "Lamp", 7.0), (None, "003", "Chair", 9.9), (),
         (None, "* without tax")],
        "column0 SKU Name Price",
        [(None, "001", "Desk", 12.5), (None, "002", "Lamp", 7.0), (None, "003", "Chair", 9.9)],
    ),
    "a name that is repeated": (
        [("Name", "Qty", "Qty"), ("Desk", 1, 2), ("Lamp", 3, 4), ("Chair", 5, 6)],
        "Name Qty Qty_2",
        [("Desk", 1, 2), ("Lamp", 3, 4), ("Chair", 5, 6)],
    ),
    "subtotals": (
        [("Region", "Product", "Qty"), ("North", "Desk", 5), ("North", "Lamp", 7),
         ("North Total", None, 12), ("South", "Desk", 2), ("South", "Chair", 9),
         ("South Total", None, 11), ("Grand Total", None, 23)],
        "Region Product Qty",
        [("North", "Desk", 5), ("North", "Lamp", 7), ("South", "Desk", 2), ("South", "Chair", 9)],
    ),
    "a row of units below the names": (
        [(None, "Turnover 2023"), (None, "Month", "Net", "Gross"), (None, None, "EUR", "EUR"),
         (None, "January", 100.5, 119.6), (None, "February", 90, 107.1), (None, "March", 120, 142)],
        "column0 Month Net Gross",
        [(None, "January", 100.5, 119.6), (None, "February", 90, 107.1),
         (None, "March", 120, 142)],
    ),
    "a form above the table": (
        [("Purchase order", None, None, "No.", "PO-17"), ("Supplier", "A", None, "Date", "1 May"),
         (), ("Pos", "Item", "Qty", "Price", "Sum"), (1, "Desk", 2, 12.5, 25), (2, "Lamp", 1, 7, 7),
         (3, "Bell", 10, 0.5, 5)],
        "Pos Item Qty Price Sum",
        [(1, "Desk", 2, 12.5, 25), (2, "Lamp", 1, 7, 7), (3, "Bell", 10, 0.5, 5)],
    ),
    "a row that only has the name of a subtotal": (
        [("Region", "Product", "Qty"), ("North", "Desk", 5), ("Total", None, 4), ("South", "A", 2)],
        "Region Product Qty",
        [("North", "Desk", 5), ("Total", None, 4), ("South", "A", 2)],
    ),
}  # fmt: skip


@pytest.mark.slow
def test_sheets_are_read_as_a_careful_person_reads_them(tmp_path: Path) -> None:
    wrong = {}
    for number, (name, (rows, columns, expected)) in enumerate(SHEETS.items()):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / f"{number}.xlsx")
        packed = pack(str(tmp_path / f"{number}.xlsx"))
        sent = [tuple(r.get(column) for column in columns.split()) for r in packed.records]
        if sent != expected or {*packed.plan.columns["column"]} != {*columns.split()}:
            wrong[name] = packed.records, packed.plan.notes

    assert wrong == {}


@pytest.mark.parametrize(
    ("fields", "cell"),
    [
        ([{"name": "a", "type": "INTEGER"}], "1"),
        ([{"name": "a", "type": "STRING", "mode": "REPEATED"}], {"v": ["x", None]}),
        ([{"name": "a", "type": "RECORD", "fields": [{"type": "INTEGER"}]}],
         {"v": {"f": [{"v": "1"}]}}),
        ([{"name": "a", "type": "RECORD", "fields": 5}], {"v": {"f": 7}}),
        ([{"name": ["a"]}], {"v": "1"}),
        ([{"name": {"x": 1}}], {"v": "1"}),
        ([{"name": "a", "type": "TIMESTAMP"}], {"v": "1e400"}),
    ],
)  # fmt: skip
def test_cells_of_other_forms_are_sent_as_they_are(
    tmp_path: Path, fields: list[Any], cell: Any
) -> None:
    path = tmp_path / "t.json"
    rows = [{"f": [cell]}, {"f": [cell]}]
    path.write_text(json.dumps({"schema": {"fields": fields}, "rows": rows}), encoding="utf-8")

    assert len(pack(path).records) == 2


@pytest.mark.slow
def test_published_words_of_late_lines_are_missing_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = [f"S{number},{number}.5,{number}.25" for number in range(6000)]
    path.write_text("\n".join(["station,t,u", *lines, "A,M,1.5", "B,2.5,M", ""]), encoding="utf-8")

    packed = pack(path)

    assert [{**r, "objectID": ""} for r in packed.records[-2:]] == [
        {"objectID": "", "station": "A", "u": 1.5}, {"objectID": "", "station": "B", "t": 2.5}
    ]  # fmt: skip


def test_flags_of_late_lines_are_left_out_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    lines = [f"A,P{number}\t{number} " for number in range(1000)]
    path.write_text("\n".join(["unit,geo\\time\t2018 ", *lines, "A,Q\t7 b", ""]), encoding="utf-8")

    packed = pack(path)

    assert packed.records[-1]["2018"] == 7
    assert any("flags after values" in note for note in packed.plan.notes)


def test_whole_numbers_with_an_exponent_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("well,expr\n1E5,1.5e-3\n2E7,2.5e2\n3E1,7.0\n", encoding="utf-8")

    packed = pack(path)

    assert [record["well"] for record in packed.records] == ["1E5", "2E7", "3E1"]
    assert [record["expr"] for record in packed.records] == [1.5e-3, 250.0, 7.0]
    assert any("can be a code" in note for note in packed.plan.columns["note"])


@pytest.mark.slow
def test_formulas_of_many_rows_are_ids_as_those_of_few_rows(tmp_path: Path) -> None:
    for rows in (3, 30_000):
        path = tmp_path / f"{rows}.csv"
        lines = (f'"=""{number:06d}""",{number}\n' for number in range(rows))
        path.write_text("code,n\n" + "".join(lines) + '"=""""",1\n', encoding="utf-8")

        packed = pack(path, id="code")

        assert packed.records[2] == {"objectID": "000002", "code": "000002", "n": 2}
        assert len(packed.records) == rows
        assert packed.rejected == [(rows + 1, "code", "has no id")]
