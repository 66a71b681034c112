package charset

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func named(t testing.TB, name string) *Encoding {
	for _, e := range encodings {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no encoding %s", name)
	return nil
}

// TestFind: text as it stands in source files, from one word to some lines.
func TestFind(t *testing.T) {
	for _, c := range []struct{ enc, text string }{
		{"windows-1252", "prix = \"café\"\nline two\n"},
		{"windows-1252", "// été\n"},
		{"windows-1252", "# Größe und Länge prüfen\nx = 1\n"},
		{"windows-1252", "# El año pasado, mañana, también\n"},
		{"windows-1252", "smart “quotes” and it’s – an em—dash…\n"},
		{"windows-1252", "10 °C, £5, © 2020, 20 €\n"},
		{"windows-1252", "à la carte\n"},
		{"windows-1252", "naïve café\n"},
		{"windows-1252", "CAFÉ NAÏVE"},
		{"windows-1252", "naïve"},
		{"windows-1252", "Größe: 3×4 ÷ 2\n"},
		{"windows-1252", "¿Qué? ¡Hola!"},
		{"windows-1252", "100 % „so“"},
		{"windows-1252", "2ª vía, 3 µm"},
		{"windows-1250", "dům"},
		{"windows-1250", "něco"},
		{"windows-1250", "člověk"},
		{"windows-1250", "książka"},
		{"windows-1250", "pořadí = 1\n"},
		{"windows-1251", "// комментарий\nint x;\n"},
		{"windows-1251", "файл не найден"},
		{"windows-1252", "l'été où l'élève a été reçu à l'école\n"},
		{"windows-1252", "São João não é aqui; informações, ações\n"},
		{"windows-1252", "Smörgåsbord på svenska, Åke och Örjan är här\n"},
		{"windows-1250", "Zażółć gęślą jaźń, był to piękny dzień. Proszę wpisać hasło użytkownika\n"},
		{"windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Chyba při načítání souboru\n"},
		{"ISO-8859-2", "Zażółć gęślą jaźń, był to piękny dzień. Proszę wpisać hasło użytkownika\n"},
		{"windows-1254", "Kullanıcı adı ve şifre yanlış. Lütfen tekrar deneyiniz, değişiklik yapıldı\n"},
		{"Shift_JIS", "日本語\nline two\n"},
		{"Shift_JIS", "// これはテストです\n"},
		{"Shift_JIS", "print(\"こんにちは世界\") # 表示する\n"},
		{"Shift_JIS", "設定ファイルを読み込みます。エラーが発生しました。\n"},
		{"EUC-JP", "日本語のファイル\nline two\n"},
		{"EUC-JP", "// これはテストです\n"},
		{"EUC-JP", "設定ファイルを読み込みます。エラーが発生しました。\n"},
		{"GBK", "中文\nline two\n"},
		{"GBK", "// 这是一个测试文件\n"},
		{"GBK", "你好,世界\n"},
		{"GBK", "# 读取配置文件,如果出错就返回默认值\n"},
		{"GB18030", "# 读取配置文件,如果出错就返回默认值 😀\n"},
		{"EUC-KR", "한국어\nline two\n"},
		{"EUC-KR", "// 안녕하세요 세계\n"},
		{"EUC-KR", "# 설정 파일을 읽어서 오류가 발생하면 기본값을 반환합니다\n"},
		{"Big5", "// 這是一個測試檔案\n"},
		{"Big5", "繁體中文\nline two\n"},
		{"Big5", "# 讀取設定檔,如果發生錯誤就傳回預設值\n"},
		{"KOI8-R", "# привет, мир\n"},
		{"KOI8-R", "// Чтение файла настроек. Если произошла ошибка, вернуть значение по умолчанию\n"},
		{"windows-1251", "# привет, мир\n"},
		{"windows-1251", "print('Привет')\n"},
		{"windows-1251", "// Чтение файла настроек. Если произошла ошибка, вернуть значение по умолчанию\n"},
		{"windows-1253", "// Ανάγνωση του αρχείου ρυθμίσεων. Αν υπάρξει σφάλμα, επιστρέφει την προεπιλογή\n"},
		{"windows-1255", "// קריאת קובץ ההגדרות. אם אירעה שגיאה מוחזר ערך ברירת המחדל של המערכת\n"},
		{"windows-1256", "// قراءة ملف الإعدادات وإذا حدث خطأ يتم إرجاع القيمة الافتراضية من النظام\n"},
	} {
		b, err := named(t, c.enc).Encode(c.text)
		if err != nil {
			t.Errorf("%s %q: %v", c.enc, c.text, err)
			continue
		}
		e, text, ok := Find(b)
		if !ok || e.Name != c.enc || text != c.text {
			name := "unknown"
			if ok {
				name = e.Name
			}
			t.Errorf("%s %q: found %s %q (%v)", c.enc, c.text, name, text, confidence(sample(b)))
		}
	}
}

// TestNotSure: what is no text of one encoding is left alone.
func TestNotSure(t *testing.T) {
	for _, s := range []string{
		"",
		"plain\n",
		"caf\xc3\xa9 und Gr\xc3\xb6\xc3\x9fe, one broken byte: \xe9\n", // UTF-8 with a broken byte
		"a\x00b\xe9\n",
		"\x81\x8d\x8f\x90\x9d\n",
		"\xff\xff\xff\xfe\n",
		"\xa4\xa4\xa4\xe5\n", // Big5, and two kana of EUC-JP
		"\xc4\xc1\n",         // two letters of KOI8-R, and one of GBK
		"\xe4\xe0",           // two of windows-1251, and of windows-1255
		"\xbf\xf3\xb3w\n",    // a word of windows-1250, and two of Big5
		"\x82\n",             // of a code page of DOS
	} {
		if e, text, ok := Find([]byte(s)); ok {
			t.Errorf("%q: found %s %q", s, e.Name, text)
		}
	}
}

func TestEncode(t *testing.T) {
	for _, c := range []struct{ enc, text, want string }{
		{"windows-1252", "a\nпо\n", `windows-1252 does not have the character 'п' (U+043F) in line 2`},
		{"Shift_JIS", "日本é", `'é' (U+00E9) in line 1`},
		{"GBK", "中😀", `U+1F600`},
		{"KOI8-R", "�", `U+FFFD`},
		{"windows-1252", "€é", ""},
	} {
		b, err := named(t, c.enc).Encode(c.text)
		if c.want == "" {
			if err != nil || len(b) != utf8.RuneCountInString(c.text) {
				t.Errorf("%s %q: %q, %v", c.enc, c.text, b, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.enc, c.text, err, c.want)
		}
	}
}

// FuzzFind: what is found leads back to the same bytes, also with text added.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"caf\xe9", "\x93\xfa\x96\x7b\x8c\xea", "\xd6\xd0\xce\xc4", "\xc7\xd1\xb1\xdb", "\xa4\xa4", "\xcf\xf0\xe8\xe2\xe5\xf2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, text, ok := Find(b)
		if !ok {
			return
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%s: %q is no UTF-8", e.Name, text)
		}
		back, err := e.Encode(text)
		if err != nil || !bytes.Equal(back, b) {
			t.Fatalf("%s: %q came back as %q, %v", e.Name, b, back, err)
		}
		more, err := e.Encode("new\n" + text)
		if err != nil || !bytes.Equal(more, append([]byte("new\n"), b...)) {
			t.Fatalf("%s: %q with a line before it is %q, %v", e.Name, b, more, err)
		}
	})
}

// All doors of text read what common programs write: PowerShell, editors of other systems.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ in, text, name string }{
		{"plain", "plain", ""},
		{"\xef\xbb\xbfé", "é", ""},
		{"\xff\xfeh\x00\xe9\x00", "hé", "UTF-16LE"},
		{"\xfe\xff\x00h\x00\xe9", "hé", "UTF-16BE"},
		{"caf\xe9 d\xe9j\xe0 vu\n", "café déjà vu\n", "windows-1252"},
		{"\x93\xfa\x96\x7b\x8c\xea\n", "日本語\n", "Shift_JIS"},
		{"\x1b$BF|K\\8l\x1b(B x\n", "日本語 x\n", "ISO-2022-JP"},
		{"\x1b$BF|K", "\x1b$BF|K", ""}, // it does not lead back
		{"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", ""},
		{"h\x00i\x00", "h\x00i\x00", ""},
		{"é \xff", "é \xff", ""},
		{"bad \xff text", "bad \xff text", ""},
	} {
		if text, name := Decode([]byte(c.in)); text != c.text || name != c.name {
			t.Errorf("%q: %q, %q", c.in, text, name)
		}
	}
	for in, want := range map[string]string{"h\x00e\x00l\x00l\x00o\x00": "UTF-16LE", "\x00h\x00e\x00l\x00l\x00o": "UTF-16BE", "hello, world": "", "\x7fELF\x00\x00\x00\x00\x00\x00\x00\x00": "", "\x00\x00\x00\x00\x00\x00\x00\x00": "", "a\x00": ""} {
		if got := Bare16([]byte(in)); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// Source code has signs of units in a word or two of its comments.
func TestUnits(t *testing.T) {
	for _, text := range []string{"/* range: ±5 µm at 20 °C */\n", "// 3 µs\n", "wait(5); // 10 µs ± 2\n"} {
		b, err := named(t, "windows-1252").Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if e, got, ok := Find(b); !ok || got != text {
			t.Errorf("%q: %v, %q", text, e, got)
		}
	}
	b, err := named(t, "ISO-8859-2").Encode("// ľudia\n")
	if e, got, ok := Find(b); err != nil || ok && got != "// ľudia\n" {
		t.Errorf("%v, %q, %v", e, got, err)
	}
}
