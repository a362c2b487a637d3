import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { noHistories, revokeInHistories } from '../../../../subgraphs/receipt/issuer/histories.ts';
import { publishedKeys, revocations } from '../../../../subgraphs/receipt/issuer/publish.ts';
import { issuerOf, openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { verifyIssuerHistory, verifyRevocations } from '../../../../subgraphs/receipt/verify/histories.ts';
import { verifyAllowance } from '../../../../subgraphs/receipt/verify/signed-answer.ts';
import { base_url } from '../../../harness/receipt/issue.ts';

/** Seeds of three keys. The third key revoked the first two. */
const seeds = ['33', '22', '11'].map(byte => byte.repeat(32));
const now_ms = () => Date.parse('2026-01-02T03:04:06.000Z');
const issuer = openIssuer(seeds, { base_url, now_ms });
const since = '2026-01-01T00:00:00.000Z';
const log = { tree_size: 3, root_hash: 'ab'.repeat(32) };
const sign = (claims: JsonObject) => issuer.signJws({ iss: base_url, ...claims });

const histories = issuer.kids.slice(1).reduce(
  (known, kid) => {
    const revoking = revokeInHistories(known, { kid, since, reason: 'lost', log }, { sign, now_ms: now_ms() });
    if (revoking.kind !== 'revoked') throw new Error(revoking.kind);
    return revoking.histories;
  },
  issuer.historiesAfter(noHistories, now_ms()),
);
const jwks = publishedKeys(histories);
const list = revocations(histories) as JsonObject & { readonly keys: readonly JsonObject[] };
const [newest, , , oldest] = list.keys as readonly [JsonObject, JsonObject, JsonObject, JsonObject];
const verifyKeys = (keys: readonly JsonObject[]) => verifyRevocations({ ...list, keys }, jwks);
/** Verifies the list with changed members of its first key. Undefined removes a member. */
const changed = (members: Readonly<Record<string, JsonObject[string] | undefined>>) =>
  verifyKeys([JSON.parse(JSON.stringify({ ...newest, ...members })) as JsonObject, ...list.keys.slice(1)]);

describe('a list of revoked keys', () => {
  it('verifies, each key of each seed', () => {
    expect(verifyKeys(list.keys)).toMatchObject({
      kind: 'valid',
      claims: { revoked: list.keys.map(({ kid }) => kid) },
    });
  });

  it.each<[what: string, members: Parameters<typeof changed>[0]]>([
    ['without statement and time', { statement: undefined, revoked_at: undefined }],
    ['with any token of the issuer and no time', { statement: sign({ iat: 1 }), revoked_at: undefined }],
    [
      'with any token of the issuer that names the time',
      { statement: sign({ revoked_at: String(newest.revoked_at) }) },
    ],
    ['with the statement on another key', { statement: oldest.statement ?? null }],
    ['under another kid', { kid: issuer.kid }],
    ['with another reason', { reason: 'stolen' }],
    ['with another beginning', { since: '2020-01-01T00:00:00.000Z' }],
    ['with another log', { log: { ...log, tree_size: 9 } }],
  ])('does not %s', (_, members) => {
    expect(changed(members)).toMatchObject({ kind: 'invalid', code: 'revocation_unsigned' });
  });

  it('does not where a key of another algorithm is named to which the key set gives other times', () => {
    const kid = (jwks.keys as readonly JsonObject[]).find(({ crv }) => crv === 'Ed25519')?.kid ?? null;
    const keys = list.keys.map(key => (key.alg === 'Ed25519' && key.seq === newest.seq ? { ...key, kid } : key));
    expect(verifyKeys(keys)).toMatchObject({ kind: 'invalid', code: 'revocation_unsigned' });
  });
});

describe('an issuer history', () => {
  const { history } = issuer;
  type HistoryDocument = JsonObject & { readonly jwks: { readonly keys: readonly [JsonObject, ...JsonObject[]] } };
  const [first, second, ...others] = history.keys as unknown as readonly [
    HistoryDocument,
    HistoryDocument,
    ...HistoryDocument[],
  ];
  const with_key = (member: string) => {
    const [key, ...more] = first.jwks.keys;
    const altered = { ...key, [member]: second.jwks.keys[0][member] ?? '' };
    return verifyIssuerHistory(
      { ...history, keys: [{ ...first, jwks: { keys: [altered, ...more] } }, second, ...others] },
      jwks,
    );
  };

  it('verifies, and says of what stands beside the token that nobody signed it', () => {
    const said = verifyIssuerHistory(history, jwks);
    expect(said).toMatchObject({ kind: 'valid' });
    expect(said.kind === 'valid' && said.report.unsigned.lane).toContain('issuer_signature.kid');
  });

  it.each(['x', 'y', 'kid'])('does not with a public key of another %s', member => {
    expect(with_key(member)).toMatchObject({ kind: 'invalid', code: 'thumbprint_differs' });
  });
});

it('an allowance that states a time after its key was retired is not believed', () => {
  const retired = openIssuer([seeds[2] ?? ''], { base_url, now_ms });
  const own = publishedKeys(issuer.historiesAfter(noHistories, now_ms()));
  const at = (as_of: string) => {
    const said = { agent_id: 7, remaining: null, as_of };
    return verifyAllowance({ ...said, signature: retired.signAllowance(said) }, own).kind;
  };
  expect(at('2026-01-02T03:04:06.000Z')).toBe('valid');
  expect(at('2026-03-01T00:00:00.000Z')).toBe('invalid');
});

/**
 * Three keys: the second revoked the first, and the third then revoked the second. Anyone who has the second key since can sign statements
 * with any time.
 */
describe('a statement of a key that was itself revoked later', () => {
  const times = ['2026-01-02T03:04:06.000Z', '2026-01-03T00:00:00.000Z', '2026-01-04T00:00:00.000Z'];
  const [at_first = 0, at_second = 0, at_third = 0] = times.map(time => Date.parse(time));
  const [third_seed = '', second_seed = '', first_seed = ''] = seeds;
  const at = (own: readonly string[], ms: number) => openIssuer(own, { base_url, now_ms: () => ms });
  const second = at([second_seed, first_seed], at_first);
  const third = at([third_seed, second_seed, first_seed], at_second);
  const [first_kid = '', second_kid = ''] = [second.kids[1], second.kid];
  const signClaims = (by: typeof issuer) => (claims: JsonObject) => by.signJws({ iss: base_url, ...claims });
  const revoking = (known: Parameters<typeof revokeInHistories>[0], kid: string, by: typeof issuer, ms: number) => {
    const made = revokeInHistories(known, { kid, since, reason: 'lost', log }, { sign: signClaims(by), now_ms: ms });
    if (made.kind !== 'revoked') throw new Error(made.kind);
    return made.histories;
  };
  const two = second.historiesAfter(noHistories, at_first);
  const by_second = revoking(two, first_kid, second, at_first);
  const three = third.historiesAfter(by_second, at_second);
  const both = revoking(three, second_kid, third, at_third);
  const keys_now = publishedKeys(both);
  const list_now = revocations(both);
  /** The list that was published before the second key was revoked. */
  const list_before = revocations(by_second);
  const entriesOf = (shown: JsonObject) => shown.keys as readonly JsonObject[];
  const shownBy = (known: typeof both) =>
    issuerOf(third, { latest: () => known, renew: async () => {} }).historySnapshot({}) ?? {};
  const history_now = shownBy(both);
  const older = issuerOf(third, { latest: () => both, renew: async () => {} }).historySnapshot({ version: 2 }) ?? {};

  it('is good in the list that shows its own revocation behind it', () => {
    expect(verifyRevocations(list_now, keys_now)).toMatchObject({ kind: 'valid' });
  });

  it('is not decided in a list of before, and is good once the newest list is at hand', () => {
    expect(verifyRevocations(list_before, keys_now)).toMatchObject({ kind: 'invalid', code: 'needs_history' });
    expect(verifyRevocations(list_before, keys_now, { histories: [list_now] })).toMatchObject({ kind: 'valid' });
  });

  it('is false where the chain does not lead to it, whatever time it names', () => {
    const forged = revokeInHistories(
      two,
      { kid: first_kid, since, reason: 'forged', log },
      { sign: signClaims(second), now_ms: at_first },
    );
    if (forged.kind !== 'revoked') throw new Error(forged.kind);
    const own = entriesOf(revocations(forged.histories)).filter(({ kid }) => kid === first_kid);
    const genuine = entriesOf(list_now).filter(({ kid }) => kid === second_kid);
    const shown = { ...list_now, keys: [...genuine, ...own] };
    expect(verifyRevocations(shown, keys_now)).toMatchObject({ kind: 'invalid', code: 'revocation_unsigned' });
    const before = revocations(forged.histories);
    const said_now = verifyRevocations(before, keys_now, { histories: [list_now] });
    expect(said_now).toMatchObject({ kind: 'invalid', code: 'revocation_unsigned' });
  });

  it('is false in a list of its own where it names a time after its revocation', () => {
    const forged = revocations(revoking(two, first_kid, second, at_third + 1_000));
    expect(verifyRevocations(forged, keys_now)).toMatchObject({ kind: 'invalid', code: 'revocation_unsigned' });
  });

  it('as a version of the history: not decided alone, and good with a later version at hand', () => {
    expect(verifyIssuerHistory(older, keys_now)).toMatchObject({ kind: 'invalid', code: 'needs_history' });
    expect(verifyIssuerHistory(older, keys_now, { histories: [history_now, list_now] })).toMatchObject({
      kind: 'valid',
    });
    const strangers = openIssuer(
      ['44', '55'].map(byte => byte.repeat(32)),
      { base_url, now_ms },
    ).history;
    expect(verifyIssuerHistory(older, keys_now, { histories: [strangers] })).toMatchObject({ code: 'needs_history' });
  });

  it('beside the keys of a history is checked as well', () => {
    expect(verifyIssuerHistory(history_now, keys_now)).toMatchObject({ kind: 'valid' });
    const keys = (history_now.keys as readonly JsonObject[]).map(key =>
      key.revoked === undefined ? key : { ...key, revoked: { ...(key.revoked as JsonObject), reason: 'another' } },
    );
    expect(verifyIssuerHistory({ ...history_now, keys }, keys_now)).toMatchObject({ code: 'revocation_unsigned' });
  });
});
