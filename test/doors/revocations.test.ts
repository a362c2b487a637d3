import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../gateway/parts.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { systemClock } from '../../subgraphs/clock.ts';
import { revokeKey } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { eventually } from '../harness/faults/ground.ts';
import { ownFolder } from '../harness/scratch.ts';

/* A key that was revoked while the service runs, as each door shows it. One that was only retired: see reads.test.ts. */

const seeds = ['22', '11'].map(byte => byte.repeat(32));
const REASON = 'a laptop was lost';

let service: Service;
let kid: string;
let history: JsonObject;

beforeAll(async () => {
  service = await openService({ ISSUER_KEYS: seeds.join(',') });
  const issuer = openIssuer(seeds, { base_url: service.url, now_ms: systemClock.now_ms });
  kid = openIssuer(seeds.slice(1), { base_url: service.url, now_ms: systemClock.now_ms }).kid;
  history = (await service.get('/.well-known/issuer-history.json')).body;
  const store = await openStore(service.database_url);
  const said = await revokeKey(store, issuer, { data_dir: await ownFolder(), kid, reason: REASON, since_ms: null });
  await store.close();
  expect(said.kind).toBe('revoked');
  await eventually('the service says so', async () => (await revoked()).length > 0 || null);
});

const revoked = async () => {
  const { body } = await service.get<{ keys: JsonObject[] }>('/.well-known/revocations');
  return body.keys.filter(({ status }) => status === 'revoked');
};

describe('a key that was revoked', () => {
  it('is named at /.well-known/revocations, with time, reason and the log of before', async () => {
    const [key, ...others] = await revoked();
    expect(others).toHaveLength(2);
    expect(key).toMatchObject({ kid, status: 'revoked', reason: REASON, log: { tree_size: 0 } });
    for (const name of ['revoked_at', 'since', 'retired_at', 'statement']) expect(key).toHaveProperty(name);
  });

  it('is marked in the key set and the DID document, and goes on standing there', async () => {
    const { body: jwks } = await service.get<{ keys: JsonObject[] }>('/.well-known/jwks.json');
    expect(jwks.keys.map(key => 'revoked' in key)).toEqual([false, false, false, true, true, true]);
    expect(jwks.keys.find(key => key.kid === kid)).toMatchObject({ revoked: { reason: REASON, tree_size: 0 } });
    const { body: did } = await service.get<{ verificationMethod: JsonObject[] }>('/.well-known/did.json');
    expect(did.verificationMethod.map(key => 'revoked' in key)).toEqual([false, false, false, true, true, true]);
  });

  it('is marked beside the issuer history, of which no version has another hash', async () => {
    const { body } = await service.get('/.well-known/issuer-history.json');
    const { snapshot, hash, snapshots, issuer_signature } = history;
    expect(body).toMatchObject({ snapshot, hash, snapshots, issuer_signature });
    expect(body).toMatchObject({ keys: [{ kid, revoked: { reason: REASON } }, {}] });
  });

  it('has signed no checkpoint any more', async () => {
    const { text } = await service.get('/log/verifier-keys');
    expect(text.trim().split('\n')).toHaveLength(1);
  });
});
