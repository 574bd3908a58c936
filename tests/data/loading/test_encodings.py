# ruff: noqa: E501, RUF001 - a letter of another script can have two columns, or look like a Latin one
"""Natural texts in the encodings that people have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from svc_notebook.data.loading.sources.encoding import find_encoding
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack

# The same sentence in many languages, with names and words that tables have.
TEXTS = [
    ("cp1250", "Czech", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv; "
     "příliš žluťoučký kůň; Dvořák, Jiří; Plzeň; Třebíč; nábytek, židle a stůl z dřeva"),
    ("cp1250", "Slovak", "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti "
     "a práv; Ľubomír Šťastný; Košice; Žilina; vážená pani; kŕdeľ; stôl; dĺžka"),
    ("cp1250", "Polish", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych "
     "praw; Łódź; Gdańsk; Wałęsa; krzesło dębowe; żółty; źródło; ćwiczenie; śnieg"),
    ("cp1250", "Hungarian", "Minden emberi lény szabadon születik és egyenlő méltósága és joga van; "
     "Győr; Szőke Gyűrű; árvíztűrő tükörfúrógép; Petőfi Sándor; bőr; gyűjtő; erdő; fűtő"),
    ("cp1250", "Romanian", "Toate fiinţele umane se nasc libere şi egale în demnitate şi în drepturi; "
     "Braşov; Constanţa; masă; scaun de lemn; pâine; înălţime; Bucureşti"),
    ("iso8859_2", "Polish of ISO", "Wszyscy ludzie rodzą się wolni i równi pod względem swej "
     "godności i swych praw; Łódź; Gdańsk; Wałęsa; krzesło dębowe; żółty; źródło; śnieg"),
    ("iso8859_2", "Czech of ISO", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a "
     "práv; Dvořák, Jiří; Plzeň; Třebíč; nábytek, židle; šťáva; žluťoučký; Košťál; Ťuhýk"),
    ("cp1254", "Turkish", "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar; İstanbul; "
     "Diyarbakır; çağdaş ahşap masa; ışık; yağ; Eskişehir; güneş; ağaç"),
    ("cp1257", "Lithuanian", "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis; Šiauliai; "
     "Kaišiadorys; ąžuolas; kėdė; ūkis; įmonė; džiaugsmas; mėnesių; šviesą"),
    ("cp1257", "Latvian", "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās; "
     "Rīga; Jūrmala; Liepāja; krēsls; galds; ķirsis; ļoti; ģimene; žurnāls; Čakste"),
    ("cp1252", "German", "Alle Menschen sind frei und gleich an Würde und Rechten geboren; Müller; "
     "Größe; Stühle für Gärten; Köln; Straße; 20 m² zu 5 €"),
    ("cp1252", "French", "Tous les êtres humains naissent libres et égaux en dignité et en droits; "
     "Besançon; chêne; tête-à-tête; où; œuvre; naïf; Noël; 3° étage"),
    ("cp1252", "Spanish", "Todos los seres humanos nacen libres e iguales en dignidad y derechos; "
     "Peña; Córdoba; ¿Qué año?; ¡Olé!; pingüino; jardín; mesa pequeña; 1ª"),
    ("cp1252", "Portuguese", "Todos os seres humanos nascem livres e iguais em dignidade e em "
     "direitos; São Paulo; coração; avô; três; órgão; João Conceição; não; às"),
    ("cp1252", "Italian", "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti; "
     "città; perché; più; sarà così; è una sedia; Forlì; però"),
    ("cp1252", "Swedish", "Alla människor är födda fria och lika i värde och rättigheter; Malmö; "
     "Ångström; bord på fötter; Örebro; röd; fåtölj"),
    ("cp1252", "Danish", "Alle mennesker er født frie og lige i værdighed og rettigheder; København; "
     "Århus; træbord; Ærø; grønne møbler; smørrebrød"),
    ("cp1252", "Icelandic", "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum; "
     "Þór; Reykjavík; ýsa; stóll; Ísafjörður; þrír; æðarfugl"),
    ("cp1252", "Finnish", "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan; Jyväskylä; "
     "pöytä; tyhjä; Hämeenlinna; Åbo; löyly"),
    ("cp1252", "Dutch", "Alle mensen worden vrij en gelijk in waardigheid geboren; België; coördinatie; "
     "één; geïnteresseerd; café; ruïne; vóór"),
    ("cp1252", "names of many countries", "Müller; Peña; São Tomé; Åse; Curaçao; Łukasz; Þór; "
     "Besançon; Ñuñoa; Zoë; Björk; Citroën; Škoda; Côte d'Ivoire; Réunion; Århus".replace("Ł", "L")),
    ("cp1252", "prices and signs", "10 £; 20 €; 30 °C; ½ l; 3 × 4; m³; “quoted”; – dash; ©; naïve; "
     "déjà vu; smörgåsbord; El Niño; crème brûlée"),
    ("cp1251", "Russian", "Все люди рождаются свободными и равными в своем достоинстве и правах; "
     "Москва; стол; подъезд; ёлка"),
    ("cp1251", "Bulgarian", "Всички хора се раждат свободни и равни по достойнство и права; София; "
     "дървен стол; къща; щастие"),
    ("koi8_r", "Russian of KOI8", "Все люди рождаются свободными и равными в своем достоинстве и "
     "правах; Москва; деревянный стол; подъезд"),
    ("cp1253", "Greek", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα "
     "δικαιώματα; Αθήνα; ξύλινη καρέκλα"),
    ("cp1255", "Hebrew", "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם; ירושלים; שולחן עץ; כיסא"),
    ("cp1256", "Arabic", "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق; القاهرة; طاولة خشبية; كرسي"),
    ("cp932", "Japanese", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である; 東京; 木の椅子; カタカナ"),
    ("gb18030", "Chinese", "人人生而自由，在尊严和权利上一律平等; 北京; 木椅子; 他们赋有理性和良心; 并应以兄弟关系的精神相对待"),
    ("big5", "Chinese of Taiwan", "人人生而自由，在尊嚴和權利上一律平等; 臺北; 木椅子; 他們賦有理性和良心; 並應以兄弟關係的精神相對待"),
    ("cp874", "Thai", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ; กรุงเทพมหานคร; โต๊ะไม้; "
     "เก้าอี้; น้ำดื่ม"),
    ("cp949", "Korean", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다; 서울; 나무 의자"),
]  # fmt: skip


def write_table(path: Path, text: str, encoding: str, end: str) -> list[str]:
    """Write a table whose second column has the words, and return them."""
    words = [word.strip() for word in text.split(";")] * 2
    rows = ["number;text", *(f'{n};"{word}"' for n, word in enumerate(words))]
    path.write_bytes("".join(row + end for row in rows).encode(encoding))
    return words


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize(
    ("encoding", "text"),
    [(encoding, text) for encoding, _, text in TEXTS],
    ids=[f"{encoding} {language}" for encoding, language, _ in TEXTS],
)
def test_a_natural_text_is_read_in_its_encoding(
    tmp_path: Path, encoding: str, text: str, end: str
) -> None:
    words = write_table(tmp_path / "t.csv", text, encoding, end)

    guessed = find_encoding(tmp_path / "t.csv").chosen.value

    decoded = (tmp_path / "t.csv").read_bytes().decode(guessed)
    assert all(f'"{word}"' in decoded for word in words), guessed


def test_a_table_in_polish_is_loaded_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    words = write_table(path, TEXTS[2][2], "cp1250", "\r\n")

    packed = pack(path, id="number")

    assert [record["text"] for record in packed.records] == words
    assert "t.csv is read as cp1250, because it is not UTF-8" in packed.plan.notes[0]


@pytest.mark.parametrize("count", [1, 2])
def test_a_few_letters_are_no_evidence_of_another_language(tmp_path: Path, count: int) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        ("number;text\n" + "1;crème à l'œuf\n2;El Niño\n3;über\n" * count).encode("cp1252")
    )

    assert find_encoding(path).chosen.value == "cp1252"


@pytest.mark.parametrize("first", ["", "# a comment\n"], ids=["own", "copied"])
def test_the_error_for_a_line_that_is_not_utf8_names_the_line_of_the_given_file(
    tmp_path: Path, first: str
) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{number},lamp {number}\n" for number in range(100_000))
    path.write_bytes(f"{first}id,name\n{rows}".encode() + b"b,c\nd,\xff\ne,f\rg,h\r\n")
    line = 100_003 + bool(first)

    wanted = rf"{re.escape(str(path))} is not utf-8: line {line:,} cannot be decoded \(invalid"
    with pytest.raises(BadInput, match=wanted):
        pack(path)
