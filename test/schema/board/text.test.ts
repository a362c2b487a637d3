import { getBase58Decoder } from '@solana/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeText } from '../../../schema/board/text.ts';
import { prose } from '../../harness/board/prose.ts';

const CHARS_MAX = 500;
const judge = (text: string) => {
  const verdict = judgeText(text, CHARS_MAX);
  return verdict.kind === 'plain' ? 'plain' : verdict.reason;
};
describe('a text of the board', () => {
  it('passes as it is where it is prose, in whatever script', () => {
    fc.assert(
      fc.property(prose, text => {
        expect(judge(text)).toBe('plain');
      }),
      { numRuns: 300 },
    );
    for (const text of [
      'Charged twice: once at 10:31, once at 10:32 (same nonce). The second was refunded.',
      '很快。非常好。返回 200，没有错误。',
      'Быстро. Но дорого: 0,5 USDC за вызов.',
      'سريع جدا، بدون أخطاء. 200 OK',
      'price: 2000 -> 4000 atomic; latency 1.5s, p95 = 2.3s; retry-after: 5',
      'x-svc-error: hub_failed; path /v1/chat/completions; <script>alert(1)</script>',
      'From 1.2.3 to 1.2.4-rc.1: v0.9.0 is 2.5x slower, e.g. 0.002 USDC, 12,5 % or $1.99, 20°C at 10:30:15',
      'ratio 16:9, score:80/100, price:2000/call, line:5, status:ok, wc:3, 10:30/11:00, lr=2e-5, x=2e3',
      'std::vector, Foo::bar and a::b; // nothing, //comment; C:\\temp\\056x; a.b.c, obj.key',
      'the .NET client, a .md file, .env; the dot com bubble; the dot net framework; hmm...so it goes; evil..com',
      'le point de vue, el punto de vista; It works. AI/ML teams liked it; USDC . Then more; fast.Then slow',
      'とても速い。OKでした。응답이 빨라요.아주 좋아요. ነው። ጥሩ።',
      'it risks risk-averse users at 2000 or 4000, in 10:30 or 11:45 of 2026-01-02, with p95 2.3s and p99 4.5s and so on',
      'latencies 120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220, 230 and 240 ms; idempotency-key: task_01k9z; api key: none',
      'uuid 3f2504e0-4f89-11d3-9a0c-0305e82c3301 and block 18,000,000 of 0x1234abcd; sk-1, skip-level, ghp_',
      'use .NET or a .app, open the .dev tools, my .net code; the red dot, dot by dot; node.js-based, snake_case_name, _slow_',
      'uuids 3f2504e0-4f89-11d3-9a0c-0305e82c3301 and 3f2504e0-4f89-11d3-9a0c-0305e82c3302; aa:bb:cc:dd:ee:ff',
      '2026-01-02 10:31:05, 2026-01-02 10:32:07, 2026-01-02 10:33:09, 2026-01-02 10:34:10; java\nscript; great 👍. It works',
      'ASIA MARKETS ARE CLOSED. 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01; C:\\temp\\.env; USDC . Then more',
      '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045 / 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      'I used it for summaries, search, and code review; all came back within seconds.',
      'Run main.py, then src/lib.rs and build.sh; README.md says how. main.py:12 fails, see notes.md.',
      `Paid by 0x${'7'.repeat(11)}0c${'81f2'.repeat(12)}5a0`,
      `Paid as nano:EAAA${'0B5'.repeat(20)} in one block`,
      'Deliver output.zip with Main.java, parser.cc, infra.tf and a demo.mov (under 10 s).',
    ])
      expect([text, judge(text)]).toEqual([text, 'plain']);
  });

  it('passes with hashes and transactions by their names, several of them, with and without a prefix', () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => Buffer.from(bytes).toString('hex'));
    const signature = fc
      .uint8Array({ minLength: 64, maxLength: 64 })
      .map(bytes => getBase58Decoder().decode(bytes))
      .filter(text => text.length >= 86);
    fc.assert(
      fc.property(hash, hash, signature, (one, other, sol) => {
        for (const text of [
          `Paid in base:0x${one} and 0x${other}, twice`,
          `sha256:${one} is what I got; SHA-256 ${other.toUpperCase()} is what was promised`,
          `${one} ${other}`,
          `solana:${sol} moved nothing, nor did ${sol}`,
          `nano:${one.toUpperCase()} did`,
        ])
          expect([text, judge(text)]).toEqual([text, 'plain']);
      }),
    );
  });

  it.each([
    'evil.sh/x',
    'https://evil.py',
    '//evil.rs/x',
    'me@evil.md',
    'www.evil.py',
    'evil.zip?x',
    'evil.sh:8080/x',
    'solana:8dHEs5pFtGdqPaVRtEVqXsgcTMPmnYqSYsgSuiFSvVYX?amount=1',
    'evil.com.py',
  ])('is refused with a host that ends as files do: %s', text => {
    expect(judge(`see ${text} now`)).toBe('link');
  });

  it('is refused with a link in it, however that is spelled', () => {
    const name = fc.constantFrom(
      'evil.com',
      'shop.example.io',
      'bit.ly',
      'xn--e1awd7f.xn--p1ai',
      'пример.рф',
      'a.co.uk',
      'hidden.onion',
    );
    const clothes = fc.constantFrom(...Object.values(disguises));
    fc.assert(
      fc.property(name, clothes, prose, (host, disguise, text) => {
        const said = `${[...text].slice(0, 80).join('')} ${disguise(host)} ok`;
        expect([said, judge(said)]).toEqual([said, expect.stringMatching(/^(link|control_characters)$/)]);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    'https://x',
    'HTTP://x',
    'ftp://x',
    'hxxps://evil',
    'http:/evil',
    'javascript:alert(1)',
    'mailto:me',
    'data:text/html,x',
    'www.evil',
    'me@evil.com',
    'evil.com/x?y',
    'evil.com:8080',
    '1.2.3.4',
    '127.0.0.1:80',
    '[2001:db8::1]',
    'bitcoin:bc1q',
    'https\\u003a//x',
    'evil。com',
    'evil．com',
    'evil[.]com',
    'evil(dot)com',
    'evil&#46;com',
    'evil&period;com',
    'evil%2Ecom',
    'evil%252Ecom',
    'evil%EF%BC%8Ecom',
    'https&colon;&sol;&sol;x',
    'еvіl.соm',
    'evil.ⅽom',
    'evil.𝐜𝐨𝐦',
    'ｅｖｉｌ.ｃｏｍ',
    'evil.c\u200dom',
    'evil%252525252ecom',
    'evil%252525252525252525252ecom',
    'evil=2ecom',
    'evil\\056com',
    'evil\\2e com',
    'evil\\u{00000002e}com',
    'evil.ꓚꓳꓟ',
    'evil.ᏟᎾᎷ',
    'evil.ⲥⲟm',
    'evil.𐐽om',
    'evil.c๐m',
    'evil.c٥m',
    'evil.cסm',
    'shop.ϲοm',
    'evil.лоm',
    'evil።com',
    'evil᛫com',
    'evil∘com',
    'evil°com',
    'evil˙com',
    'evil߸com',
    'evil‥com',
    'evil .com',
    'evil . com',
    'evil dot com',
    'evil\n.com',
    'evil\t.com',
    'evil. com/x',
    'evil-dot-com',
    'evil punkt com',
    '//evil/x',
    '2001:db8::1',
    '::1',
    'fe80:0:0:0:0:0:0:1',
    'localhost:8080/x',
    'evil:443/x',
    'web+evil:x',
    'zoommtg:x',
    'vscode:x',
    'otpauth:x',
    'wc:abc@2',
    '_evil.com_',
    '__evil.com__',
    '-evil.com-',
    'evil\\.com',
    'evil\\\\\\.com',
    'https\\://x',
    'evil.com_x',
    'evil.com-x',
    '❤.ws',
    'i❤.ws',
    '💩.la',
    '👩‍💻.ws',
    '👍🏽.ws',
    '🇩🇪.ws',
    'evil dot ai',
    'evil dot app',
    'evil-dot-dev',
    'evil dot me',
    'evil .ai',
    'evil . ai',
    'evil .app',
    'evil .dev/x',
    'evil .net',
    'evil\n.net',
    'evil .NET/x',
    'evil. io/x',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    'j\na\nv\na\nscript\n:alert(1)',
    'vb&#10;script:x',
    'https∶∕∕x',
    'evil·com',
    'évil.cóm',
    '[click](evil.com)',
    'evil\u2024com',
  ])('is refused as a link: %s', text => {
    expect(judge(`see ${text} for more`)).toBe('link');
  });

  it.each([
    '\u0000',
    '\u0007',
    '\u001b[31m',
    '\u200b',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\u00ad',
    '\u2028',
    '\ud800',
    '\ue000',
    '\u3164',
    'a\u0301\u0302\u0303\u0304\u0305',
  ])('is refused with what is not drawn, or draws otherwise: %j', drawn => {
    expect(judge(`all ${drawn} well`)).toBe('control_characters');
  });

  it('has so many characters and no more, whatever each of them takes', () => {
    for (const one of ['a', '👍', 'é']) {
      expect(judgeText(one.repeat(CHARS_MAX), CHARS_MAX).kind).toBe('plain');
      expect(judge(one.repeat(CHARS_MAX + 1))).toBe('too_long');
    }
  });

  it('is judged of any text, however it is made', () => {
    const hostile = [
      'a',
      'ey',
      '-',
      'ΐ',
      'a dot ',
      'a .',
      '0:',
      '1,',
      'deadbeef ',
      'dp.',
      'a.',
      '%',
      '&#x',
      'sk-',
      'a:',
      '[(',
      '0x0',
      'ey',
      '.com',
      'ﷺ',
      '\\u{',
      '\\',
      '\\\\.',
      '_',
      'a_',
      '-_',
      '❤',
      '❤.',
      'java\n',
      'j\n',
      'a .ai',
      'a .',
      'the .net ',
      ' dot ai',
      'dot ',
      'AKIA-',
      'AKIA/',
      '9f:',
      '9f-',
      '9f_',
      'f',
      '3f2504e0-',
      '3f2504e0-4f89-11d3-9a0c-',
      '🇩🇪',
      '👍🏽',
      '. io/',
      '\n',
      'vb\t',
    ];
    for (const one of hostile) expect(judgeText(one.repeat(CHARS_MAX).slice(0, CHARS_MAX), CHARS_MAX)).toBeDefined();
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), text => {
        expect(['plain', 'refused']).toContain(judgeText(text, CHARS_MAX).kind);
      }),
      { numRuns: 300 },
    );
  });
});

const entityOf = (char: string) => `&#${char.codePointAt(0)};`;
const disguises: Readonly<Record<string, (host: string) => string>> = {
  bare: host => host,
  capital: host => host.toUpperCase(),
  schemed: host => `https://${host}/a?b=c#d`,
  'behind a user': host => `me@${host}`,
  percent: host => host.replaceAll('.', '%2e'),
  'percent twice': host => host.replaceAll('.', '%252e'),
  'all percent': host => [...Buffer.from(host)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'entity, decimal': host => host.replaceAll('.', '&#46;'),
  'entity, hex': host => host.replaceAll('.', '&#x2E;'),
  'all entities': host => [...host].map(entityOf).join(''),
  'full-width': host => host.replace(/[!-~]/g, char => String.fromCodePoint(char.charCodeAt(0) + 0xfee0)),
  'full-width dot': host => host.replaceAll('.', '．'),
  'ideographic dot': host => host.replaceAll('.', '。'),
  'one dot leader': host => host.replaceAll('.', '\u2024'),
  defanged: host => host.replaceAll('.', '[.]'),
  joined: host => [...host].join('\u200d'),
  'with zero width': host => host.replace('.', '\u200b.'),
  'right to left': host => `\u202e${[...host].reverse().join('')}`,
  Cyrillic: host =>
    host.replace(
      /[aceopxyi]/g,
      char => ({ a: 'а', c: 'с', e: 'е', o: 'о', p: 'р', x: 'х', y: 'у', i: 'і' })[char] ?? char,
    ),
  mathematical: host => host.replace(/[a-z]/g, char => String.fromCodePoint(0x1d41a + char.charCodeAt(0) - 97)),
  accented: host => host.normalize('NFC').replace(/[aeo]/g, char => `${char}\u0301`),
  escaped: host => host.replaceAll('.', '\\u002e'),
};
