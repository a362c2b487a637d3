import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { type ProvenRequest, provenBodyHash, type ShownProof } from '../../../schema/proof.ts';
import {
  bookProof,
  boundProof,
  plainUse,
  proofWindow,
  useOf,
  windowOf,
} from '../../../subgraphs/session/possession/proof.ts';
import { ROOT } from '../../harness/root.ts';

const session = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map(bytes => `svcs_${Buffer.from(bytes).toString('base64url')}`);
const agent = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const now_ms = fc.integer({ min: 0, max: 4_000_000_000_000 });
const json = fc.jsonValue({ noUnicodeString: false }).map(value => value as Json);

const plain = (agent_id: number, value: string): ShownProof => ({ agent_id, value, nonce: null, request: null });
const passes = (value: string, key: string, id: number, now: number) =>
  windowOf(plain(id, value), key, id, now) !== null;

describe('a plain book proof', () => {
  it('passes in its own window and the next one, and in no other', () => {
    fc.assert(
      fc.property(session, agent, now_ms, fc.integer({ min: -3, max: 3 }), (key, id, now, windows) => {
        const made = proofWindow(now) - windows;
        const found = windowOf(plain(id, bookProof(key, id, made)), key, id, now);
        expect(found).toBe(windows === 0 || windows === 1 ? made : null);
      }),
    );
  });

  it('opens neither another book nor with another session', () => {
    fc.assert(
      fc.property(session, session, agent, agent, now_ms, (one, two, a, b, now) => {
        fc.pre(one !== two && a !== b);
        const proof = bookProof(one, a, proofWindow(now));
        expect(passes(proof, two, a, now)).toBe(false);
        expect(passes(proof, one, b, now)).toBe(false);
      }),
    );
  });

  it('is HMAC-SHA256 in hex behind sha256=', () => {
    // Reference value: printf '42.5966666' | openssl dgst -sha256 -hmac svcs_example
    expect(bookProof('svcs_example', 42, 5_966_666)).toBe(
      'sha256=110e0daec6f959644c46ff3ee83849a335f3182ddd2db0c72f1d7197ff1e8d88',
    );
    fc.assert(
      fc.property(fc.string(), text => {
        expect(passes(text, 'svcs_example', 42, 0)).toBe(false);
      }),
    );
  });

  it('is used once per window, method, path and body, whatever order its members have and whichever proof is in it', () => {
    const held = { session_hash: 'a'.repeat(64) };
    const request = { method: 'POST', path: '/v1/agents/7/book', body: { a: 1, b: [null, 'x'], proof: 'one' } };
    const use = (members: Partial<ProvenRequest>, window = 5, by = held) =>
      plainUse(by, window, { ...request, ...members })?.digest;
    expect(use({ body: { proof: 'two', b: [null, 'x'], a: 1.0 } })).toBe(use({}));
    const others = [
      use({ method: 'PUT' }),
      use({ path: '/v1/agents/7/book/policy' }),
      use({ body: { a: 1, b: [null, 'y'] } }),
      use({ body: { a: '1', b: [null, 'x'] } }),
      use({}, 6),
      use({}, 5, { session_hash: 'b'.repeat(64) }),
    ];
    expect(new Set([use({}), ...others]).size).toBe(others.length + 1);
  });
});

describe('a bound book proof', () => {
  const nonce = fc.stringMatching(/^[A-Za-z0-9_-]{16,64}$/);
  const body = fc.dictionary(fc.string(), json, { noNullPrototype: true }).filter(it => provenBodyHash(it) !== null);
  const request = fc.record({
    method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE'),
    path: fc.webPath().map(path => `/v1${path}`),
    body,
  });
  /** The proof as a caller in another language would compute it, without our code. */
  const signed = (key: string, id: number, window: number, { method, path, body }: ProvenRequest, once: string) => {
    const { proof: _, ...rest } = body;
    const digest = createHash('sha256')
      .update(canonicalize(rest) ?? '')
      .digest('hex');
    const text = `${id}.${window}.${method}.${path}.${digest}.${once}`;
    return `sha256=${createHmac('sha256', key).update(text).digest('hex')}`;
  };
  const windowFound = (shown: ShownProof, key: string, now: number) => windowOf(shown, key, shown.agent_id, now);

  it('passes in its own window and the next one, whatever it is bound to', () => {
    fc.assert(
      fc.property(
        session,
        agent,
        now_ms,
        request,
        nonce,
        fc.integer({ min: -3, max: 3 }),
        (key, id, now, it, once, away) => {
          const made = proofWindow(now) - away;
          const shown = { agent_id: id, value: signed(key, id, made, it, once), nonce: once, request: it };
          expect(windowFound(shown, key, now)).toBe(away === 0 || away === 1 ? made : null);
        },
      ),
    );
  });

  it('passes for nothing but what it was made for: session, agent, method, path, body, nonce', () => {
    const other = <T>(values: fc.Arbitrary<T>, than: T) =>
      values.filter(value => JSON.stringify(value) !== JSON.stringify(than));
    fc.assert(
      fc.property(session, agent, now_ms, request, nonce, fc.gen(), (key, id, now, it, once, any) => {
        const shown = { agent_id: id, value: signed(key, id, proofWindow(now), it, once), nonce: once, request: it };
        const elsewhere: [ShownProof, string][] = [
          [shown, any(() => other(session, key))],
          [{ ...shown, agent_id: any(() => other(agent, id)) }, key],
          [{ ...shown, nonce: any(() => other(nonce, once)) }, key],
          [{ ...shown, nonce: null }, key],
          [{ ...shown, request: null }, key],
          [{ ...shown, request: { ...it, method: it.method.toLowerCase() } }, key],
          [{ ...shown, request: { ...it, path: `${it.path}/` } }, key],
          [
            { ...shown, request: { ...it, body: { ...it.body, [any(() => other(fc.string(), 'proof'))]: 'changed' } } },
            key,
          ],
        ];
        for (const [one, by] of elsewhere) {
          fc.pre(one.request === null || provenBodyHash(one.request.body) !== null);
          expect(windowFound(one, by, now)).toBeNull();
        }
        expect(
          windowFound({ ...shown, request: { ...it, body: { ...it.body, proof: 'in it' } } }, key, now),
        ).not.toBeNull();
      }),
    );
  });

  it.each(['', 'a'.repeat(15), 'a'.repeat(65), `${'a'.repeat(15)}.`, 'é'.repeat(16), `${'a'.repeat(16)}\n`])(
    'takes no nonce %j, though it be signed',
    once => {
      const it = { method: 'POST', path: '/graphql', body: {} };
      const shown = { agent_id: 7, value: signed('svcs_example', 7, 0, it, once), nonce: once, request: it };
      expect(windowFound(shown, 'svcs_example', 0)).toBeNull();
    },
  );

  it('of a body without a canonical form is wrong, in words that say so too', () => {
    const it = { method: 'POST', path: '/graphql', body: { lone: '\ud800' } };
    const once = 'a'.repeat(16);
    const value = boundProof('svcs_example', 7, 0, { ...it, body_sha256: 'null', nonce: once });
    expect(windowFound({ agent_id: 7, value, nonce: once, request: it }, 'svcs_example', 0)).toBeNull();
  });

  it('is used by its nonce alone, in whatever window and for whatever request', () => {
    const held = { agent_id: 7 as never, session_hash: 'a'.repeat(64) };
    const shown = { agent_id: 7, value: '', nonce: 'a'.repeat(16), request: { method: 'GET', path: '/', body: {} } };
    const used = useOf(shown, held, 5)?.digest;
    expect(useOf({ ...shown, request: { ...shown.request, method: 'POST' } }, held, 6)?.digest).toBe(used);
    expect(useOf({ ...shown, nonce: 'b'.repeat(16) }, held, 5)?.digest).not.toBe(used);
    expect(useOf(shown, { ...held, session_hash: 'b'.repeat(64) }, 5)?.digest).not.toBe(used);
  });
});

it('the page of the room shows both forms with values that are right', async () => {
  const page = await readFile(join(ROOT, 'subgraphs/session/README.md'), 'utf8');
  const [, block = ''] = page.match(/```text\n(session {2}[\s\S]*?)```/) ?? [];
  const shown = Object.fromEntries(
    block
      .trim()
      .split('\n')
      .map(line => line.split(/ {2,}/) as [string, string]),
  );
  const { session = '', plain = '', bound = '', body = '', ...rest } = shown;
  const [id, window] = (rest['plain is over'] ?? '').split('.').map(Number) as [number, number];
  expect(bookProof(session, id, window)).toBe(plain);
  const [, , method = '', path = '', body_sha256 = '', nonce = ''] = (rest['bound is over'] ?? '').split('.');
  expect(provenBodyHash(JSON.parse(body) as JsonObject)).toBe(body_sha256);
  expect(boundProof(session, id, window, { method, path, body_sha256, nonce })).toBe(bound);
});
