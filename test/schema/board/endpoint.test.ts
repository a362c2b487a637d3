import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeEndpoint } from '../../../schema/board/endpoint.ts';

const hostOf = (text: string) => {
  const verdict = judgeEndpoint(text);
  return verdict.kind === 'endpoint' ? verdict.host : null;
};

describe('the endpoint of a post', () => {
  it.each([
    ['https://API.Example/v1/chat?model=x#top', 'api.example'],
    ['https://api.example:443/', 'api.example'],
    ['https://api.example:8443/x', 'api.example:8443'],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example/', 'xn--bcher-kva.example'],
    ['https://ａｐｉ.example/', 'api.example'],
    ['https://api。example/', 'api.example'],
    ['https://93.184.215.14/x', '93.184.215.14'],
    ['https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/', '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]'],
  ])('%s is known by its host %s', (text, host) => {
    expect(hostOf(text)).toBe(host);
  });

  it('keeps no fragment', () => {
    expect(judgeEndpoint('https://api.example/a?b=c#d')).toEqual({
      kind: 'endpoint',
      url: 'https://api.example/a?b=c',
      host: 'api.example',
    });
  });

  it.each([
    '',
    'api.example',
    '//api.example/',
    'http://api.example/',
    'ftp://api.example/',
    'javascript:alert(1)',
    'https://',
    'https://me@api.example/',
    'https://me:secret@api.example/',
    'https://:secret@api.example/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://db/',
    'https://a.internal/',
    'https://a.local/',
    'https://api.example./',
    'https://x.onion/',
    'https://a.home.arpa/',
    'https://router.lan/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://10.0.0.8/',
    'https://192.168.1.1/',
    'https://172.16.0.1/',
    'https://169.254.169.254/',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://１２７.0.0.1/',
  ])('%s is refused: it is nobody’s on the public internet', text => {
    expect(hostOf(text)).toBeNull();
  });

  it.each([
    '?api_key=x',
    '?key=1',
    '?token=abc',
    '?access_token=x',
    '?apiKey=x',
    '?X-Amz-Signature=00',
    '?auth=x',
    '?password=x',
    '?q=a1b2c3d4e5f6a1b2c3d4e5f6',
    '?sk-proj-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '#access_token=x',
    `?k=2f0%E2%80%8D${'01'.repeat(30)}0`,
    'v3/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    '?x=ghp%5Faaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  ])('https://api.example/%s is refused: it holds what looks like a key', path => {
    expect(hostOf(`https://api.example/${path}`)).toBeNull();
  });

  it.each(['', 'eth.', 'v2.'])('https://%s<32 hex digits>.example/ is refused: its host looks like a key', before => {
    expect(hostOf(`https://${before}0123456789abcdef0123456789abcdef.example/`)).toBeNull();
    expect(hostOf(`https://${before}0123456789abcdef.example/`)).toBe(`${before}0123456789abcdef.example`);
  });

  it('never has a host that is another’s, nor a user, whatever it is made of', () => {
    const part = fc.constantFrom(
      'https://',
      'api.example',
      '@',
      ':',
      '/',
      '\\',
      '?',
      '#',
      '127.0.0.1',
      '%40',
      '。',
      ' ',
      'a',
      '[',
      ']',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), parts => {
        const text = parts.join('');
        const verdict = judgeEndpoint(text);
        if (verdict.kind === 'refused') return;
        const url = new URL(verdict.url);
        expect([url.protocol, url.host, url.username, url.password, url.hash]).toEqual([
          'https:',
          verdict.host,
          '',
          '',
          '',
        ]);
        expect(verdict.host).toMatch(/^(\d+\.\d+|\[|([a-z0-9-]+\.)+[a-z0-9-]+)/);
        expect(verdict.host).not.toMatch(/^127\.0\.0\.1(:|$)/);
      }),
      { numRuns: 1_000 },
    );
  });
});
