"""Headers of real tables, each with the kinds of the columns below it.

i: 1, 2, 3; n: whole numbers; f: decimal numbers; m: numbers with gaps; t: texts that differ;
c: categories; d: dates; y: yes or no; k: codes.
"""

from __future__ import annotations

import random
from collections.abc import Callable

ROWS = 12
CATEGORIES = ("north", "south", "east")
VALUES: dict[str, Callable[[random.Random, int], str]] = {
    "i": lambda _, row: str(row + 1),
    "n": lambda chance, _: str(chance.randrange(5_000)),
    "f": lambda chance, _: f"{chance.uniform(0, 90):.2f}",
    "m": lambda chance, row: "" if row % 4 == 1 else str(chance.randrange(100)),
    "t": lambda chance, row: f"{chance.choice(('Oak', 'Blue', 'Old'))} thing {chr(97 + row)}",
    "c": lambda chance, _: chance.choice(CATEGORIES),
    "d": lambda chance, row: f"2024-{chance.randrange(1, 13):02}-{row + 1:02}",
    "y": lambda chance, _: chance.choice(("yes", "no")),
    "k": lambda chance, _: f"{chance.choice('ABC')}{chance.randrange(1000, 9999)}",
}


def read_header(line: str) -> tuple[str, list[str]]:
    """Return a line's header and the kinds of its columns."""
    header, _, kinds = line.partition(" => ")
    return header, kinds.split()


def separator_of(header: str) -> str:
    """Return the separator of a header."""
    return next((each for each in (";", ",") if each in header), " ")


def write_table(line: str) -> str:
    """Return a table with a header, and rows that are the same in every run."""
    header, kinds = read_header(line)
    chance, separator = random.Random(line), separator_of(header)
    rows = (separator.join(VALUES[kind](chance, row) for kind in kinds) for row in range(ROWS))
    return "\n".join([header, *rows]) + "\n"


HEADERS = """\
No;Name;Price => i t f
No;Artikel;Menge => i t n
No,Item,Yes,No.1 => i t n n
RI,Na,Mg,Al,Si,K,Ca,Ba,Fe,Type => f f f f f f f f f n
Name,Platform,Year,Genre,NA,EU,JP,Other,Global => t c n c f f f f f
game,year,NA,EU,JP => t n f f f
country,NA => t n
code,NA,NZ => k n n
Question,Yes,No,Total => t n n n
Question,Yes,No,No answer => t n n n
poll,yes,no,unsure => d n n n
Measure,Yes votes,No votes,Passed => t n n y
true,false,total => n n n
label,true,false => c n n
class,TRUE,FALSE,accuracy => c n n f
null,mean,sd => i f f
test,null,alt => c f f
metric,None,Low,High => t n n n
id,none,some,all => i n n n
Group,None,Mild,Severe => c n n n
Site,Al,Fe,Mg,Ca,Na => c f f f f f
Sample,pH,Na,K,Cl => k f f f f
element,H,He,Li,Be => c n n n n
Ion,Na+,K+,Cl- => c f f f
O3,NO2,NO,SO2,PM10 => f f f f f
date,NO,NO2,NOx => d f f f
station,date,NO,O3 => k d f f
SKU,36,37,38 => k n n n
SKU,36,37,38,39,40,41 => k n n n n n n
article,S,M,L,XL => t n n n n
article,34,36,38,40,42 => t n n n n n
Ring size,48,50,52,54 => t n n n n
Product,2023-01,2023-02,2023-03 => t n n n
Product,Jan,Feb,Mar,Apr => t n n n n
Region,2018,2019,2020,2021 => t n n n n
Country Name,Country Code,1960,1961,1962 => t k n n n
Country,2000,2005,2010 => t f f f
Year,2019,2020 => t n n
Province/State,Country/Region,Lat,Long,1/22/20,1/23/20,1/24/20 => c t f f n n n
geo,2021-Q1,2021-Q2,2021-Q3 => c n n n
store,2024-01-01,2024-01-02,2024-01-03 => k n n n
sensor,00:00,06:00,12:00,18:00 => k f f f f
Line,5:30,6:30,7:30 => k n n n
name,1990,2000 => t n n
Team,1,2,3,4,Total => t n n n n n
Hole,1,2,3,4,5,6,7,8,9 => t n n n n n n n n
Player,Q1,Q2,Q3,Q4 => t n n n n
Student,1,2,3 => t f f f
id,x,y => i f f
x,y => f f
x,y,z => f f f
n,p,q => n f f
a,b,c,d => n n n n
t,v => f f
u,v,w => f f f
i,j,value => n n f
lat,lng => f f
lat,lon,alt => f f n
A,B => n n
X1,X2,Y => f f f
V1,V2,V3 => f f f
TV,Radio,Newspaper,Sales => f f f f
PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Parch,Ticket,Fare => i n n t c m n n k f
sepal_length,sepal_width,petal_length,petal_width,species => f f f f c
sepal length (cm),sepal width (cm),target => f f n
carat,cut,color,clarity,depth,table,price,x,y,z => f c c c f n n f f f
mpg,cyl,disp,hp,drat,wt,qsec => f n f n f f f
mpg cylinders displacement horsepower weight => f n f n n
model,mpg,cyl => t f n
species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex => c c m m m m c
fixed acidity;volatile acidity;citric acid;pH;quality => f f f f n
hotel,is_canceled,lead_time,arrival_date_year,country,agent => c n n n c m
movieId,imdbId,tmdbId => i k n
userId,movieId,rating,timestamp => n n f n
userId,movieId,tag,timestamp => n n t n
tconst,titleType,primaryTitle,startYear,runtimeMinutes => k c t n n
nconst,primaryName,birthYear,deathYear => k t n m
bookID,title,authors,average_rating,isbn => i t t f k
asin,title,stars,reviews,price => k t f n f
iso,iso3,name,region => c c t c
alpha-2,alpha-3,country-code,name => c k k t
Code,Country => c t
country_code,country_name => k t
Symbol,Name,Sector => k t c
Symbol,Open,High,Low,Close,Volume => k f f f f n
Date,Open,High,Low,Close => d f f f f
date,price => d f
time,value => d f
timestamp,level,message => d c t
ts,host,cpu => d c f
id,created_at,updated_at,deleted_at => i d d d
id,name => i t
id,title,body => i t t
ID;Titel;Text => i t t
Name,Email,Phone => t t k
First Name,Last Name,Email => t t t
first_name,last_name,active => t t y
name,active => t y
user,is_admin,is_staff => t y y
feature,enabled => t y
Name,Smoker,Diabetic => t y y
email,opt_in,No of orders => t y n
No of orders,Customer => n t
No.,Title,Pages => i t n
No.,Description => i t
Nr,Bezeichnung => i t
# ,Name,HP => i t n
#,Name,Type 1,Type 2,HP => i t c c n
%,count => f n
$,unit => f c
€,Menge => f n
£,units => f n
°C,°F => f f
m²,Preis => f n
km/h,mph => f f
kg,lb,oz => f f f
dB,Hz => f n
N,mean,SE,95% CI => n f f t
n,%,cum % => n f f
ns,us,ms => n n n
NA,NaN,count => n n n
age,n/a,total => n n n
Datum;Betrag;Währung => d f c
Buchungstag;Wertstellung;Verwendungszweck;Betrag => d d t f
Artikelnr;Bezeichnung;Preis;Bestand => k t f n
Artikelnummer;Name;Größe;Farbe;Lager => k t n c n
Kundennummer;Vorname;Nachname;Ort => k t t c
Kunde;Ja;Nein => t n n
Frage;Ja;Nein;Enthaltung => t n n n
Gemeinde;Ja;Nein => t n n
PLZ;Ort;Einwohner => k t n
Bundesland;Einwohner;Fläche => t n f
Land;Hauptstadt;Einwohner => t t n
Jahr;Umsatz;Gewinn => n f f
Jahr;Monat;Tag;Wert => n n n f
Monat;2022;2023 => c n n
Filiale;Mo;Di;Mi;Do;Fr;Sa;So => c n n n n n n n
Filiale;Jan;Feb;Mär => c n n n
Größe;36;38;40 => c n n n
Nr.;Name;Verein;Punkte => i t c n
Platz;Mannschaft;Sp;S;U;N;Tore => i t n n n n n
Lfd. Nr.;Titel;Autor => i t t
EAN;Produkt;VK;EK => k t f f
Konto;Soll;Haben => k f f
Beleg;Konto;Gegenkonto;Betrag => k k k f
Werk;Material;Menge;ME => k k f c
Straße;Hausnr;PLZ;Stadt => t n k c
Rezept;Zutat;Menge;Einheit => t t f c
Station;Temp;Niederschlag => k f f
Messwert;Einheit => f c
Titel;Interpret;Länge => t t d
Name;Geburtsdatum;Geschlecht => t d c
Wahlkreis;CDU;SPD;FDP;AfD => t n n n n
Partei;Stimmen;Prozent => t n f
Abteilung;Mitarbeiter;Budget => c n f
Projekt;Status;Beginn;Ende => t c d d
Rechnung;Kunde;Netto;USt;Brutto => k t f f f
Kategorie;Anzahl => c n
Begriff;Treffer => t n
Frage;Antwort => t t
Deutsch;Englisch => t t
Wort;Häufigkeit => t n
Auftrag;Pos;Artikel;Menge => k n t n
Fach;Note => t n
Schüler;1;2;3;4 => t n n n n
Verkäufer;Q1;Q2 => t f f
Sorte;Alkohol;Säure => t f f
Zeit;Wert;Qualität => d f c
Stoff;Na;Cl;Mg => t f f f
Bereich;Soll;Ist;Abw. => c f f f
Ware;Lager;Na => t n n
Teil;Ja/Nein => t y
Nom;Prénom;Ville => t t c
Référence;Désignation;Prix HT;Stock => k t f n
Date;Libellé;Débit;Crédit => d t f f
Commune;Population;Superficie => t n f
Code postal;Ville => k t
Année;Recettes;Dépenses => n f f
Bureau;Oui;Non;Blancs => k n n n
Département;Oui;Non => t n n
Question;Oui;Non;NSP => t n n n
Taille;36;38;40 => c n n n
N°;Titre;Auteur => i t t
N;Libellé => i t
Mois;2021;2022 => c f f
Pays;Capitale => t t
Pays;PIB;Habitants => t f n
Produit;Prix;Quantité => t f n
Élève;Note 1;Note 2 => t f f
Équipe;J;G;N;P;Pts => t n n n n n
Station;Latitude;Longitude => t f f
Ingrédient;Grammes => t n
Sexe;Âge;Poids => c n f
Client;Montant;Payé => t f y
Jour;Lun;Mar;Mer => c n n n
Magasin;Janv;Févr;Mars => c f f f
Recette;Temps;Difficulté => t n c
Livre;Éditeur;ISBN => t c k
Film;Réalisateur;Année => t t n
Région;Na;K => c f f
Compte;Solde => k f
Heure;Température => d f
Nombre;Fecha;Importe => t d f
Código;Descripción;Precio => k t f
Año;Población => n n
Provincia;Sí;No => t n n
Pregunta;Sí;No;NS/NC => t n n n
Municipio;No;Sí;Blanco => t n n n
No;Nombre;Edad => i t n
No,Producto,Existencias => i t n
No.;Cliente;Saldo => i t f
País;Capital;Idioma => t t c
Talla;36;37;38 => c n n n
Mes;2022;2023;2024 => c f f f
Equipo;PJ;PG;PE;PP => t n n n n
Ciudad;Lat;Lon => t f f
Título;Autor;Páginas => t t n
Ingrediente;Cantidad;Unidad => t f c
Alumno;1;2;3 => t f f f
Empresa;NIF;Activo => t k y
Calle;Número;CP => t n k
Concepto;Debe;Haber => t f f
Hora;Valor => d f
Factura;Cliente;Total => k t f
Vendedor;Ene;Feb;Mar => t f f f
Género;Cuenta => c n
Pieza;Peso kg => k f
编号,名称,价格 => i t f
姓名,年龄,城市 => t n c
日期,金额,备注 => d f t
省份,人口,面积 => t n f
城市,2019,2020,2021 => t n n n
产品,一月,二月,三月 => t n n n
问题,是,否 => t n n
国家,首都 => t t
年份,产量 => n f
书名,作者,出版社 => t t c
学号,姓名,语文,数学 => k t n n
货号,尺码,库存 => k n n
尺码,36,37,38 => c n n n
代码,简称,现价,涨跌幅 => k t f f
时间,温度,湿度 => d f f
订单号,客户,数量,总价 => k t n f
地址,邮编 => t k
类别,数量 => c n
标题,链接 => t t
序号,内容 => i t
电影,导演,评分 => t t f
车站,经度,纬度 => t f f
部门,人数,预算 => c n f
NO,名称,数量 => i t n
No.,公司,状态 => i t c
性别,身高,体重 => c n f
英文,中文 => t t
关键词,次数 => t n
球队,胜,负,平 => t n n n
商品,单价,数量,是否促销 => t f n y
title,artist,year => t t n
track,album,ms => t t n
word,count => t n
query,clicks,impressions,ctr,position => t n n f f
Top queries,Clicks => t n
Handle,Title,Vendor,Variant Price => t t c f
sku,name,price,qty,is_in_stock => k t f n y
Order ID,Order Date,Ship Date,Sales => k d d f
InvoiceNo,StockCode,Quantity,UnitPrice => k k n f
customerID,gender,Churn => k c y
age,sex,bmi,children,smoker,region,charges => n c f n y c f
Pregnancies,Glucose,BMI,Outcome => n n f n
Id,MSSubClass,LotArea,SalePrice => i n n n
crim,zn,indus,chas,nox => f f f n f
Suburb,Rooms,Price => c n n
neighbourhood,room_type,price,minimum_nights => c c n n
text,label => t c
label,text => c t
sentence,sentiment => t c
v1,v2 => c t
target,ids,date,flag,user,text => n n d c t t
url,status,bytes => t n n
ip,method,path,status => k c t n
host,port => t n
key,value => t t
name,value => t f
parameter,unit => t c
col,type,null,default => t c y c
field,dtype,nulls => t c n
table,rows,size => t n t
gene,log2FC,pvalue,padj => k f f f
chrom,start,end,name => c n n k
chr,pos,ref,alt => c n c c
sample,NA12878,NA12891 => k n n
barcode,na,nb => k n n
smiles,logP => t f
compound,IC50 => k f
SiO2,TiO2,Al2O3,Na2O => f f f f
Depth,Na,Mg,K => n f f f
site,NO3,NH4,TN => k f f f
Well,Na (mg/L),Cl (mg/L) => k f f
Material,Yield,No.of tests => t f n
Player,Pos,G,FG%,3P% => t c n f f
team,W,L,PCT => t n n f
Home,Away,HG,AG => t t n n
Rank,Name,Nationality => i t c
rank,university,score => i t f
state,abbr => t k
State,FIPS,Pop => t k n
zip,city,state_id => k t c
stop_id,stop_name,stop_lat,stop_lon => k t f f
route_id,agency_id,route_type => k k n
airport,iata,icao => t k k
Airline,On time,Late,No data => t n n n
Flight,Dep,Arr => k d d
Make,Model,Year,Engine HP => c t n n
vin,make,odometer => k c n
course,credits => t n
Student ID,Q1,Q2,Q3 => k n n n
respondent,yes_no,age_group => i y c
Respondent,Q1_No,Q1_Yes => i n n
survey,Strongly agree,Agree,No opinion => t n n n
County,For,Against => t n n
precinct,Yes,No => k n n
Bill,Yea,Nay,NV => k n n n
None,A,B => n n n
Nil,One,Two => n n n
inf,sup => f f
min,max,NaN => f f n
unknown,known => n n
missing,present => n n
""".splitlines()
