import fc from 'fast-check';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { sessionLimits } from '../../../schema/limits.ts';
import { grantableEndpoints } from '../../../schema/paid-operations.ts';
import { AUTO_MODEL } from '../../../schema/route-words.ts';
import { actSince, windowOfAct } from '../../../schema/session/act.ts';
import { readDelegation } from '../../../schema/session/delegation-header.ts';
import type { Grant } from '../../../schema/session/grant.ts';
import {
  grantStanding,
  modelsWithin,
  narrowingOf,
  permissionOf,
  soundnessOf,
  statusOf,
  unknownDoor,
} from '../../../schema/session/grant-rule.ts';
import { ZERO_HASH } from '../../../schema/session/typed-data.ts';

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 });
const models = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', AUTO_MODEL));
const bounds = fc.record({
  capAtomic: fc.nat(9).map(String),
  validAfter: fc.nat(9),
  sessionExpiry: fc.nat(9),
  models,
  doors: names,
});
const call = fc.record({
  models: names,
  auto_models: names,
  doors: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
});

describe('a grant', () => {
  it('is in force from validAfter on and before sessionExpiry, and takes no payment in its last seconds', () => {
    const life = { validAfter: 100, sessionExpiry: 200 };
    const at = (now: number) => grantStanding(life, now).kind;
    expect([99, 100, 170, 171, 199, 200].map(at)).toEqual([
      'not_begun',
      'in_force',
      'in_force',
      'ending',
      'ending',
      'expired',
    ]);
    expect([199, 200].map(now => statusOf(life, false, now))).toEqual(['active', 'expired']);
    expect(statusOf(life, true, 0)).toBe('revoked');
  });

  it('ends after it begins, and lives for a year at most', () => {
    const { life_seconds_max } = sessionLimits;
    const kind = (sessionExpiry: number) => soundnessOf({ validAfter: 5, sessionExpiry }).kind;
    expect([5, 6, 5 + life_seconds_max, 6 + life_seconds_max].map(kind)).toEqual([
      'unsound',
      'sound',
      'sound',
      'unsound',
    ]);
  });

  it('hands on nothing that it has not: what a child permits, its parent does', () => {
    fc.assert(
      fc.property(bounds, bounds, call, fc.nat(9), (child, parent, asked, now) => {
        fc.pre(narrowingOf(child, parent).kind === 'narrower');
        expect(BigInt(child.capAtomic) <= BigInt(parent.capAtomic)).toBe(true);
        const begun = (life: typeof child) => life.validAfter <= now && now < life.sessionExpiry;
        if (begun(child)) expect(begun(parent)).toBe(true);
        if (permissionOf(child, asked).kind === 'permitted') {
          // A call of several models is answered by one that the child allows, and so its parent.
          const asked_for = asked.models.length === 0 ? null : asked.models;
          const answering = modelsWithin(child, asked.auto_models, asked_for);
          expect(permissionOf(parent, { ...asked, models: answering ?? [] }).kind).toBe('permitted');
        }
      }),
    );
  });

  it('says in which member a child is wider', () => {
    const parent = { capAtomic: '5', validAfter: 1, sessionExpiry: 9, models: ['a'], doors: ['d'] };
    const wider = (changed: Partial<typeof parent>) => {
      const narrowing = narrowingOf({ ...parent, ...changed }, parent);
      return narrowing.kind === 'wider' ? narrowing.member : null;
    };
    expect(wider({})).toBeNull();
    expect(wider({ capAtomic: '6' })).toBe('capAtomic');
    expect(wider({ validAfter: 0 })).toBe('validAfter');
    expect(wider({ sessionExpiry: 10 })).toBe('sessionExpiry');
    for (const models of [[], ['a', 'b']]) expect(wider({ models })).toBe('models');
    for (const doors of [[], ['e']]) expect(wider({ doors })).toBe('doors');
  });

  it('names the doors and the models that it is for; no list is for any', () => {
    const kind = (models: string[], doors: string[], asked: { models: string[]; doors: string[] }) =>
      permissionOf({ models, doors }, { auto_models: [], ...asked }).kind;
    const chat = { models: ['m', 'n'], doors: ['chat_completions', 'a2a_message'] };
    expect(kind([], [], chat)).toBe('permitted');
    expect(kind(['n'], ['a2a_message'], chat)).toBe('permitted');
    expect(kind(['o'], [], chat)).toBe('model_not_granted');
    expect(kind(['o'], [], { ...chat, models: [] })).toBe('permitted');
    expect(kind([], ['submit_inference'], chat)).toBe('door_not_granted');
    const within = (models: string[], allowed: string[] | null) => modelsWithin({ models }, [], allowed);
    expect(within(['a', 'b'], ['b', 'c'])).toEqual(['b']);
    expect([within([], null), within(['a'], null), within([], ['b'])]).toEqual([null, ['a'], ['b']]);
  });

  it('of svc/auto is for what that may choose for the call, and for no other model, also where it may choose none', () => {
    const kind = (models: string[], asked: string[], auto_models: string[]) =>
      permissionOf({ models, doors: [] }, { models: asked, auto_models, doors: ['chat_completions'] }).kind;
    const auto = ['a-1', 'b-1'];
    expect(kind([AUTO_MODEL], auto, auto)).toBe('permitted');
    expect(kind([AUTO_MODEL], ['b-1'], auto)).toBe('permitted');
    expect(kind([AUTO_MODEL], ['a-2'], auto)).toBe('model_not_granted');
    expect(kind([AUTO_MODEL, 'a-2'], ['a-2'], auto)).toBe('permitted');
    expect(kind([AUTO_MODEL], ['a-2'], [])).toBe('model_not_granted');
    expect(modelsWithin({ models: [AUTO_MODEL, 'c'] }, auto, null)).toEqual(['a-1', 'b-1', 'c']);
    expect(modelsWithin({ models: [AUTO_MODEL] }, auto, ['b-1', 'c'])).toEqual(['b-1']);
  });

  it('names endpoints as they are published; one that was bound before may have called them otherwise', () => {
    expect(unknownDoor({ doors: ['pay_job', 'payJob'] })).toBe('payJob');
    expect(unknownDoor({ doors: grantableEndpoints.map(({ name }) => name) })).toBeNull();
    const life = { capAtomic: '5', validAfter: 1, sessionExpiry: 9, models: [] };
    const narrowing = (child: string[], parent: string[]) =>
      narrowingOf({ ...life, doors: child }, { ...life, doors: parent }).kind;
    expect(narrowing(['pay_job'], ['payJob'])).toBe('narrower');
    expect(narrowing(['pay_job'], ['bidOnJob'])).toBe('wider');
  });
});

describe('an act', () => {
  it('with a nonce of its own serves before its deadline, which is at most 300 s away', () => {
    const kind = (deadline: number) => windowOfAct({ nonce: ZERO_HASH, deadline, issued_at: null }, 1_000).kind;
    expect([1_000, 1_001, 1_300, 1_301].map(kind)).toEqual(['over', 'open', 'open', 'too_far']);
  });

  it('with an issued nonce serves as long as that says', () => {
    const kind = (deadline: number) => windowOfAct({ nonce: ZERO_HASH, deadline, issued_at: 1_000 }, 1_119).kind;
    expect([1_119, 1_120].map(kind)).toEqual(['over', 'open']);
  });

  it('is as old as its nonce, and never served before that', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(10_000), (deadline, now) => {
        const time = { nonce: ZERO_HASH, deadline, issued_at: null };
        if (windowOfAct(time, now).kind === 'open') expect(actSince(time)).toBeLessThanOrEqual(now);
      }),
    );
    expect(actSince({ nonce: ZERO_HASH, deadline: 1_300, issued_at: 1_010 })).toBe(1_010);
  });
});

describe('the header of a grant', () => {
  const { publicKey } = privateKeyToAccount(generatePrivateKey());
  const grant: Grant = {
    payer: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    agentPubkey: publicKey,
    capAtomic: '10000',
    validAfter: 1,
    sessionExpiry: 2,
    parentDelegationHash: ZERO_HASH,
    models: [],
    doors: [],
    salt: ZERO_HASH,
  };
  const shown = { grant, signature: '0x01' };
  const header = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const why = (text: string) => {
    const read = readDelegation(text);
    return read.kind === 'malformed' ? read.why : null;
  };

  it('is read with its numbers as digits or as numbers, as one session', () => {
    const digits = { ...grant, validAfter: '1', sessionExpiry: '2' };
    const numbers = { ...grant, capAtomic: 10_000 };
    const [one, ...others] = [grant, digits, numbers].map(grant =>
      readDelegation(header({ grant, signature: '0x01' })),
    );
    expect(one).toMatchObject({
      kind: 'read',
      shown: { grant: { capAtomic: '10000', validAfter: 1, sessionExpiry: 2 } },
    });
    for (const other of others) expect(other).toEqual(one);
  });

  it('is read in any spelling of its hex as one session', () => {
    const upper = { ...grant, payer: grant.payer.toLowerCase(), agentPubkey: `0x${publicKey.slice(2).toUpperCase()}` };
    const [one, two] = [grant, upper].map(grant => readDelegation(header({ grant, signature: '0x01' })));
    expect(one).toEqual(two);
    expect(one).toMatchObject({ kind: 'read', shown: { act: null, grant: { payer: grant.payer } } });
  });

  it.each([
    ['no base64url', '{}', 'is not base64url'],
    ['no JSON', Buffer.from('{').toString('base64url'), ''],
    ['too long', 'A'.repeat(sessionLimits.delegation_header_chars_max + 1), 'is too long'],
    ['too deep', Buffer.from('['.repeat(200) + ']'.repeat(200)).toString('base64url'), ''],
    ['without a signature', header({ grant }), 'signature'],
    ['with what is not known', header({ ...shown, more: 1 }), ''],
    ['with another member in the grant', header({ ...shown, grant: { ...grant, more: 1 } }), 'grant'],
    ['with a cap of nothing', header({ ...shown, grant: { ...grant, capAtomic: '0' } }), 'grant.capAtomic'],
    [
      'with a cap beyond a column',
      header({ ...shown, grant: { ...grant, capAtomic: String(2n ** 63n) } }),
      'grant.capAtomic',
    ],
    ['with half a unit for its cap', header({ ...shown, grant: { ...grant, capAtomic: 5.5 } }), 'grant.capAtomic'],
    [
      'with a cap that no number of JSON holds',
      header({ ...shown, grant: { ...grant, capAtomic: 2 ** 60 } }),
      'grant.capAtomic',
    ],
    ['with a time in hex', header({ ...shown, grant: { ...grant, validAfter: '0x1' } }), 'grant.validAfter'],
    [
      'with a time beyond its type',
      header({ ...shown, grant: { ...grant, sessionExpiry: '281474976710657' } }),
      'grant.sessionExpiry',
    ],
    [
      'with an end before its beginning',
      header({ ...shown, grant: { ...grant, sessionExpiry: 1 } }),
      'grant.sessionExpiry',
    ],
    [
      'with a key on no curve',
      header({ ...shown, grant: { ...grant, agentPubkey: `0x02${'f'.repeat(64)}` } }),
      'grant.agentPubkey',
    ],
    ['with a door that is named twice', header({ ...shown, grant: { ...grant, doors: ['a', 'a'] } }), 'grant.doors'],
    [
      'with too many models',
      header({ ...shown, grant: { ...grant, models: Array.from({ length: 33 }, String) } }),
      'grant.models',
    ],
    ['with a salt that is short', header({ ...shown, grant: { ...grant, salt: '0x00' } }), 'grant.salt'],
  ])('is refused %s', (_, text, said) => {
    expect(why(text)).toContain(said);
  });
});
