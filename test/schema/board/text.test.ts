import fc from 'fast-check';
import { english } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { judgeText } from '../../../schema/board/text.ts';

const CHARS_MAX = 500;
const judge = (text: string) => {
  const verdict = judgeText(text, CHARS_MAX);
  return verdict.kind === 'plain' ? 'plain' : verdict.reason;
};
/** Random, but the same at each run. */
const some = (chars: string, length: number) =>
  fc.array(fc.constantFrom(...chars), { minLength: length, maxLength: length }).map(all => all.join(''));

const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ALNUM = `${DIGITS}${UPPER}${UPPER.toLowerCase()}`;
const URL64 = `${ALNUM}-_`;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const key = (...parts: readonly (string | readonly [chars: string, length: number])[]) =>
  fc.tuple(...parts.map(part => (typeof part === 'string' ? fc.constant(part) : some(...part)))).map(it => it.join(''));

/** As their issuers make them, written down apart from the patterns that know them. */
const keys: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'OpenAI, of a project': key('sk-proj-', [URL64, 74], 'T3BlbkFJ', [URL64, 74]),
  'OpenAI, of before': key('sk-', [ALNUM, 20], 'T3BlbkFJ', [ALNUM, 20]),
  Anthropic: key('sk-ant-api03-', [URL64, 93], 'AA'),
  OpenRouter: key('sk-or-v1-', [HEX, 64]),
  'AWS, lasting': key('AKIA', [BASE32, 16]),
  'AWS, for a while': key('ASIA', [BASE32, 16]),
  GitHub: key('ghp_', [ALNUM, 36]),
  'GitHub, fine-grained': key('github_pat_', [ALNUM, 22], '_', [ALNUM, 59]),
  GitLab: key('glpat-', [URL64, 20]),
  Slack: key('xoxb-', [DIGITS, 12], '-', [DIGITS, 12], '-', [ALNUM, 24]),
  Stripe: key('sk_live_', [ALNUM, 24]),
  'Stripe, restricted': key('rk_test_', [ALNUM, 99]),
  Google: key('AIza', [URL64, 35]),
  'Hugging Face': key('hf_', [ALNUM, 34]),
  npm: key('npm_', [ALNUM, 36]),
  PyPI: key('pypi-AgEIcHlwaS5vcmc', [URL64, 120]),
  SendGrid: key('SG.', [URL64, 22], '.', [URL64, 43]),
  Twilio: key('SK', [HEX, 32]),
  Mailgun: key('key-', [HEX, 32]),
  Telegram: key([DIGITS, 10], ':AA', [URL64, 33]),
  Discord: key('MT', [ALNUM, 24], '.', [ALNUM, 6], '.', [URL64, 38]),
  DigitalOcean: key('dop_v1_', [HEX, 64]),
  Shopify: key('shpat_', [HEX, 32]),
  Square: key('sq0csp-', [URL64, 43]),
  Groq: key('gsk_', [ALNUM, 52]),
  xAI: key('xai-', [ALNUM, 80]),
  Perplexity: key('pplx-', [ALNUM, 48]),
  Replicate: key('r8_', [ALNUM, 37]),
  Databricks: key('dapi', [HEX, 32]),
  'a session of ours': key('svcs_', [URL64, 43]),
  'a slice token of ours': key('svca_', [URL64, 43], [HEX, 8]),
  'a key of a router book': key('svcr_', [URL64, 43], [HEX, 8]),
  NVIDIA: key('nvapi-', [ALNUM, 64]),
  Pinecone: key('pcsk_', [ALNUM, 60]),
  Docker: key('dckr_pat_', [ALNUM, 27]),
  Tavily: key('tvly-', [ALNUM, 32]),
  LangSmith: key('lsv2_pt_', [HEX, 32], '_', [HEX, 10]),
  RubyGems: key('rubygems_', [HEX, 48]),
  Shippo: key('shippo_live_', [HEX, 40]),
  Dynatrace: key('dt0c01.', [ALNUM, 24], '.', [ALNUM, 64]),
  Pulumi: key('pul-', [HEX, 40]),
  Terraform: key([ALNUM, 14], '.atlasv1.', [ALNUM, 60]),
  ElevenLabs: key('sk_', [HEX, 48]),
  Resend: key('re_', [ALNUM, 8], '_', [ALNUM, 24]),
  'Slack, the path of a hook': key('T', [ALNUM, 9], '/B', [ALNUM, 9], '/', [ALNUM, 24]),
  'AWS, as it is set': key('aws_secret_access_key = ', [`${ALNUM}/+`, 40]),
  'a webhook secret': key('whsec_', [ALNUM, 44]),
  'a private key in hex': key('0x', [HEX, 64]),
  'the same without a prefix': key([HEX, 64]),
  'a private key of Solana': key([BASE58, 88]),
  PEM: key('-----BEGIN EC PRIVATE KEY-----\n', [ALNUM, 64]),
  JWT: key('eyJhbGciOiJFUzI1NiJ9.eyJ', [URL64, 60], '.', [URL64, 86]),
  'a seed phrase': fc
    .array(fc.constantFrom(...english), { minLength: 12, maxLength: 24 })
    .map(words => words.join(' ')),
  'a seed phrase in a list': fc
    .array(fc.constantFrom(...english), { minLength: 12, maxLength: 12 })
    .map(words => words.map((word, at) => `${at + 1}. ${word}`).join('\n')),
};

/** Words as sentences have them: none of them ends as a name of the DNS does where it stands behind a dot with a space. */
const word = fc.constantFrom(
  ...'the call was charged twice and after it came an error with status 502, so I asked again with same payment'.split(
    ' ',
  ),
  ...[
    'latency',
    'v1.2.3',
    '0.002',
    '$4',
    '50%',
    'e.g.',
    'i.e.',
    "didn't",
    '(slow)',
    'gpt-4.1-mini',
    '10:30',
    '3/4',
    'naïve',
  ],
  ...[
    'größer',
    'медленно',
    '很快',
    'テスト',
    'سريع',
    '👍🏽',
    '👩‍💻',
    'A/B',
    'a+b=c',
    '"quoted"',
    '<b>bold</b>',
    '&',
    'task_01k9z',
  ],
);
const prose = fc.array(word, { minLength: 1, maxLength: 40 }).map(words => `${words.join(' ')}.`);

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
      'std::vector, Foo::bar and a::b; // TODO nothing, //comment; C:\\temp\\056x; a.b.c, obj.key',
      'the .NET client, a .md file, .env; the dot com bubble; the dot net framework; hmm...so it goes; evil..com',
      'le point de vue, el punto de vista; It works. AI/ML teams liked it; USDC . Then more; fast.Then slow',
      'とても速い。OKでした。응답이 빨라요.아주 좋아요. ነው። ጥሩ።',
      'it risks risk-averse users at 2000 or 4000, in 10:30 or 11:45 of 2026-01-02, with p95 2.3s and p99 4.5s and so on',
      'latencies 120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220, 230 and 240 ms; idempotency-key: task_01k9z; api key: none',
      'uuid 3f2504e0-4f89-11d3-9a0c-0305e82c3301 and block 18,000,000 of 0x1234abcd; sk-1, skip-level, ghp_',
      'I used it for summaries, search, and code review; all came back within seconds.',
    ])
      expect([text, judge(text)]).toEqual([text, 'plain']);
  });

  it.each(Object.keys(keys))('is refused with a secret in it: %s', name => {
    fc.assert(
      fc.property(
        keys[name] as fc.Arbitrary<string>,
        prose,
        fc.constantFrom(' ', '\n', '"', '(', '='),
        (secret, text, before) => {
          const said = `${[...text].slice(0, 60).join('')} ${before.trim()}${secret}`;
          expect(judgeText(said, 2 * CHARS_MAX)).toEqual({ kind: 'refused', reason: 'secret' });
          expect(judgeText(`${encodeURIComponent(secret)} x`, 4 * CHARS_MAX).kind).toBe('refused');
          const hidden = `${secret.slice(0, 6)}\u200d${secret.slice(6)}`;
          expect(judgeText(hidden, 2 * CHARS_MAX).kind).toBe('refused');
        },
      ),
      { numRuns: 20 },
    );
  });

  it.each<[how: string, broken: (secret: string) => string]>([
    ['by a line', secret => `${secret.slice(0, 12)}\n${secret.slice(12)}`],
    ['by spaces', secret => [...secret].join(' ')],
    ['by dots', secret => [...secret].join('.')],
    ['by a letter that looks like one', secret => secret.replace(/h/, 'һ').replace(/g/, 'ɡ')],
    ['by accents', secret => [...secret].join('\u0301')],
  ])('is refused with a secret that is broken up %s', (_, broken) => {
    fc.assert(
      fc.property(key('ghp_', [ALNUM, 36]), secret => {
        expect(judgeText(`mine is ${broken(secret)} and works`, 2 * CHARS_MAX).kind).toBe('refused');
        expect(judgeText(broken(secret), 2 * CHARS_MAX)).toEqual({ kind: 'refused', reason: 'secret' });
      }),
      { numRuns: 50 },
    );
  });

  it('is refused with a private key in groups, in bytes, or by the beginnings of its words', () => {
    fc.assert(
      fc.property(key([HEX, 64]), fc.constantFrom(4, 8, 16, 32), (secret, size) => {
        const groups = secret.match(new RegExp(`.{${size}}`, 'g')) ?? [];
        expect(judge(`it is ${groups.join(' ')}`)).toBe('secret');
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), bytes => {
        expect(judge(JSON.stringify([...bytes]))).toBe('secret');
        expect(judge([...bytes].join(', '))).toBe('secret');
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...english), { minLength: 12, maxLength: 24 }), words => {
        expect(judge(words.map(word => word.slice(0, 4)).join(' '))).toBe('secret');
      }),
    );
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
    ...[
      'https://x',
      'HTTP://x',
      'ftp://x',
      'hxxps://evil',
      'http:/evil',
      'javascript:alert(1)',
      'mailto:me',
      'data:text/html,x',
    ],
    ...[
      'www.evil',
      'me@evil.com',
      'evil.com/x?y',
      'evil.com:8080',
      '1.2.3.4',
      '127.0.0.1:80',
      '[2001:db8::1]',
      'bitcoin:bc1q',
    ],
    ...[
      'https\\u003a//x',
      'evil。com',
      'evil．com',
      'evil[.]com',
      'evil(dot)com',
      'evil&#46;com',
      'evil&period;com',
      'evil%2Ecom',
    ],
    ...[
      'evil%252Ecom',
      'evil%EF%BC%8Ecom',
      'https&colon;&sol;&sol;x',
      'еvіl.соm',
      'evil.ⅽom',
      'evil.𝐜𝐨𝐦',
      'ｅｖｉｌ.ｃｏｍ',
      'evil.c\u200dom',
    ],
    ...[
      'evil%252525252ecom',
      'evil%252525252525252525252ecom',
      'evil=2ecom',
      'evil\\056com',
      'evil\\2e com',
      'evil\\u{00000002e}com',
    ],
    ...['evil.ꓚꓳꓟ', 'evil.ᏟᎾᎷ', 'evil.ⲥⲟm', 'evil.𐐽om', 'evil.c๐m', 'evil.c٥m', 'evil.cסm', 'shop.ϲοm', 'evil.лоm'],
    ...['evil።com', 'evil᛫com', 'evil∘com', 'evil°com', 'evil˙com', 'evil߸com', 'evil‥com'],
    ...[
      'evil .com',
      'evil . com',
      'evil dot com',
      'evil\n.com',
      'evil\t.com',
      'evil. com/x',
      'evil-dot-com',
      'evil punkt com',
    ],
    ...['//evil/x', '2001:db8::1', '::1', 'fe80:0:0:0:0:0:0:1', 'localhost:8080/x', 'evil:443/x'],
    ...['web+evil:x', 'zoommtg:x', 'vscode:x', 'otpauth:x', 'wc:abc@2'],
    ...['https∶∕∕x', 'evil·com', 'évil.cóm', '[click](evil.com)', 'evil\u2024com'],
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
