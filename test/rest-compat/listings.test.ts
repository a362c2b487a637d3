import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { securityContact } from '../../gateway/http/security-contact.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { openRestFixture, type RestFixture } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());

async function read(path: string) {
  const answer = await house.get(path);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const text = await answer.text();
  expect(text).toMatch(/[^\n]\n$/);
  return text;
}
const linesIn = (text: string) => text.trimEnd().split('\n');

it('GET /.well-known/x402list.txt 200: the URL of each paid door that asks for no session first, once and sorted', async () => {
  const lines = linesIn(await read('/.well-known/x402list.txt'));
  expect(lines).toEqual([
    'https://svc.test/a2a-message',
    'https://svc.test/task-quote',
    'https://svc.test/task-request',
    'https://svc.test/v1/agents/register',
    'https://svc.test/v1/audio/transcriptions',
    'https://svc.test/v1/chat/completions',
    'https://svc.test/v1/embeddings',
    'https://svc.test/v1/images/generations',
    'https://svc.test/v1/messages',
    'https://svc.test/v1/responses',
  ]);
  const { paths } = (await (await house.get('/openapi.json')).json()) as { paths: object };
  for (const line of lines) expect(paths).toHaveProperty([line.replace('https://svc.test', '')]);
});

it('GET /llms.txt 200: each door with its summary, and what a paid one costs', async () => {
  const lines = linesIn(await read('/llms.txt'));
  expect(lines[0]).toMatch(/^# \S/);
  expect(lines[2]).toMatch(/^> \S/);
  const [faces, items] = [/^- \[(MCP|A2A|GraphQL|OpenAPI)\]\(https:/, /^- \[[A-Z, ]+ \//].map(of =>
    lines.filter(line => of.test(line)),
  ) as [string[], string[]];
  expect(faces).toHaveLength(4);
  expect(items).toHaveLength(everyDoor.length);
  for (const { methods, path, summary, price } of everyDoor) {
    const start = `- [${methods.join(', ')} ${path}](https://svc.test${path}): ${summary}`;
    const [item = ''] = items.filter(line => line === start || line.startsWith(`${start};`));
    expect(/; (\d+ atomic USDC|what its 402 says) on base/.test(item), start).toBe(price !== null);
  }
});

it('GET /robots.txt 200: receipts, refusals and the pages of approvals are not crawled, and all else may be', async () => {
  expect(await read('/robots.txt')).toBe(
    'User-agent: *\nDisallow: /approvals\nDisallow: /approve\nDisallow: /dispute/\nDisallow: /receipt/\nDisallow: /refusal/\n',
  );
});

describe('GET /.well-known/security.txt 200', () => {
  it('names a contact, until when that holds, and where it lies (RFC 9116)', async () => {
    expect(linesIn(await read('/.well-known/security.txt'))).toEqual([
      'Contact: mailto:security@svc.test',
      'Expires: 2027-05-01T00:00:00Z',
      'Canonical: https://svc.test/.well-known/security.txt',
      'Preferred-Languages: en',
    ]);
  });

  it.each([
    ['https://gateway.example', 'mailto:security@gateway.example'],
    ['https://gateway.example:8443/paid', 'mailto:security@gateway.example'],
    ['http://127.0.0.1:4000', 'mailto:security@%5B127.0.0.1%5D'],
    ['http://[::1]:4000', 'mailto:security@%5BIPv6%3A%3A%3A1%5D'],
  ])('whose contact is, where none is configured, the security mailbox of %s', (base_url, contact) => {
    const now_ms = Date.parse('2026-11-26T00:00:00Z');
    expect(securityContact(null, base_url, now_ms)).toEqual({
      contacts: [contact],
      expires_at: '2027-05-25T00:00:00.000Z',
    });
    expect(securityContact(['https://example.com/report'], base_url, now_ms).contacts).toEqual([
      'https://example.com/report',
    ]);
  });
});
