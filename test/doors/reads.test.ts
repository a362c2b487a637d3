import { decodePaymentRequiredHeader } from '@x402/core/http';
import { extractDiscoveryInfoV1 } from '@x402/extensions/bazaar';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../gateway/parts.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { canonicalHash, canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { systemClock } from '../../subgraphs/clock.ts';
import { revokeKey } from '../../subgraphs/receipt/issuer/record.ts';
import { openIssuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { ask, CHAT, type ChallengeBody, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { eventually } from '../harness/faults/ground.ts';
import { ownFolder } from '../harness/scratch.ts';

const ISSUER_KEYS = ['22'.repeat(32), '11'.repeat(32)];

let service: Service;
let chat: Chat;
beforeAll(async () => {
  // A current key and a retired one, so that the history has two versions.
  service = await openService({ ISSUER_KEYS: ISSUER_KEYS.join(',') });
  chat = (await service.buy(await service.chain.newWallet(), ask('Hello', { model: 'alpha-2' }))).body;
});

const NOBODY = `task_${'0'.repeat(26)}`;
const notFound = { status: 404, body: { code: 'not_found', error: { type: 'not_found_error' } } };

describe('GET /v1/models', () => {
  it('200 lists svc/auto first, then every model of every hub, once', async () => {
    const { status, body } = await service.get<{ object: string; data: { id: string; owned_by: string }[] }>(
      '/v1/models',
    );
    expect({ status, object: body.object }).toEqual({ status: 200, object: 'list' });
    expect(body.data.map(({ id, owned_by }) => `${owned_by}: ${id}`)).toEqual([
      'svc: svc/auto',
      'alpha: alpha-1',
      'alpha: alpha-2',
      'beta: beta-1',
    ]);
  });

  it('405 on POST', async () => {
    const heard = await service.post('/v1/models', {});
    expect(heard).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(heard.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('GET /receipt/{task_id}', () => {
  it.each([
    ['plain', '', {}],
    ['.json', '.json', {}],
    ['?format=json', '?format=json', {}],
    ['Accept: application/json', '', { accept: 'application/json' }],
  ])('200 as %s: the very receipt of the answer', async (_, suffix, headers) => {
    const heard = await service.get(`/receipt/${chat.svc.task_id}${suffix}`, headers as Record<string, string>);
    const { settlement_status: _s, ...receipt } = chat.svc;
    expect({ status: heard.status, body: heard.body }).toEqual({ status: 200, body: receipt });
  });

  it('200 at verify_url', async () => {
    const heard = await service.get(chat.svc.verify_url.replace(service.url, ''));
    expect(heard).toMatchObject({ status: 200, body: { payload_hash: chat.svc.payload_hash } });
  });

  it.each([NOBODY, 'x', '%2e%2e'])('404 for %s', async task_id => {
    expect(await service.get(`/receipt/${task_id}`)).toMatchObject(notFound);
  });

  it('400 on text that no database can hold', async () => {
    expect(await service.get('/receipt/%00')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('400 on a path that is none', async () => {
    const heard = await fetch(`${service.url}/receipt/%zz`);
    expect(heard.status).toBe(400);
    expect(await heard.json()).toMatchObject({ code: 'invalid_request' });
  });

  it('400 on a format that is none', async () => {
    const heard = await service.get(`/receipt/${chat.svc.task_id}?format=xml`);
    expect(heard).toMatchObject({ status: 400, body: { error: { param: 'format' } } });
  });
});

describe('GET /receipt/{id}/preimage', () => {
  it('200 with the bytes whose SHA-256 is payload_hash', async () => {
    const { status, text, body } = await service.get(`/receipt/${chat.svc.task_id}/preimage`);
    expect({ status, hash: sha256Hex(text) }).toEqual({ status: 200, hash: chat.svc.payload_hash });
    expect(text).toBe(canonicalJson(body));
    expect(body).toEqual(chat.svc.payload);
  });

  it('404 for nobody', async () => {
    expect(await service.get(`/receipt/${NOBODY}/preimage`)).toMatchObject(notFound);
  });
});

describe('GET /task-status', () => {
  it('200 completed', async () => {
    const { task_id, payment_ref, verify_url } = chat.svc;
    const heard = await service.get(`/task-status?task_id=${task_id}`);
    expect(heard).toMatchObject({
      status: 200,
      body: { task_id, status: 'completed', proof_outcome: 'settled', payment_ref, verify_url },
    });
  });

  it('404 for nobody', async () => {
    expect(await service.get(`/task-status?task_id=${NOBODY}`)).toMatchObject(notFound);
  });

  it('400 without task_id', async () => {
    const heard = await service.get('/task-status');
    expect(heard).toMatchObject({ status: 400, body: { error: { param: 'task_id' } } });
  });
});

describe('GET /stats', () => {
  it('200: in which range the number of receipts lies, and no more', async () => {
    expect(await service.get('/stats')).toMatchObject({ status: 200, body: { receipts: '1-9' } });
  });
});

describe('GET /.well-known', () => {
  it('/jwks.json 200: the keys of all seeds, and nothing private', async () => {
    const { status, body } = await service.get<{ keys: JsonObject[] }>('/.well-known/jwks.json');
    expect(status).toBe(200);
    expect(body.keys.filter(({ crv }) => crv === 'P-256')).toHaveLength(2);
    expect(body.keys.map(({ kid }) => kid)).toContain(chat.svc.issuer_signature.kid);
    for (const key of body.keys) expect(key).not.toHaveProperty('d');
  });

  it('/did.json 200: the keys of all seeds, the current one first', async () => {
    const { status, body } = await service.get<{ assertionMethod: readonly string[] }>('/.well-known/did.json');
    expect(status).toBe(200);
    expect(body.assertionMethod).toHaveLength(6);
    expect(body.assertionMethod[0]?.split('#')[1]).toBe(chat.svc.issuer_signature.kid);
  });

  it('/revocations 200: the keys that gave way, with their times, and no sessions', async () => {
    const { status, headers, body } = await service.get<{ keys: JsonObject[] }>('/.well-known/revocations');
    const { body: told } = await service.get<{ keys: JsonObject[]; version: number; hash: string }>(
      '/.well-known/issuer-history.json',
    );
    const { version, hash } = told;
    expect({ status, ...body, keys: body.keys.length }).toEqual({
      status: 200,
      schema: 'svc402.revocations.v1',
      issuer_history: { version, hash, seq: version },
      keys: 3,
      sessions: [],
      next_cursor: null,
    });
    const [retired, current] = told.keys;
    expect(body.keys[0]).toEqual({
      kid: retired?.kid,
      alg: 'ES256',
      seq: 1,
      status: 'retired',
      activated_at: retired?.activated_at,
      retired_at: current?.activated_at,
    });
    expect(body.keys.map(({ kid }) => kid)).not.toContain(chat.svc.issuer_signature.kid);
    expect(headers.get('cache-control')).toBe('public, max-age=60');
  });

  interface History {
    readonly version: number;
    readonly hash: string;
    readonly snapshot: JsonObject;
    readonly snapshots: readonly { readonly version: number; readonly hash: string }[];
  }
  const history = (query = '') => service.get<History>(`/.well-known/issuer-history.json${query}`);

  it('/issuer-history.json 200: the version that receipts sign', async () => {
    const { status, body } = await history();
    expect({ status, version: body.version }).toEqual({ status: 200, version: 2 });
    expect(canonicalHash(body.snapshot)).toBe(body.hash);
    expect(chat.svc.payload).toMatchObject({ issuer_history: { version: 2, hash: body.hash } });
  });

  it('/issuer-history.json 200 by ?version= and by ?hash=: an older snapshot, named by the newer', async () => {
    const [current, older] = [(await history()).body, (await history('?version=1')).body];
    expect(older.version).toBe(1);
    expect(canonicalHash(older.snapshot)).toBe(older.hash);
    expect(current.snapshot.previous_hash).toBe(older.hash);
    expect(current.snapshots).toContainEqual(expect.objectContaining({ version: 1, hash: older.hash }));
    expect((await history(`?hash=${older.hash}`)).body).toEqual(older);
  });

  it.each(['?version=3', `?hash=${'0'.repeat(64)}`])('/issuer-history.json 404 for %s', async query => {
    expect(await history(query)).toMatchObject(notFound);
  });

  it.each(['?version=0', '?version=x', '?hash=x'])('/issuer-history.json 400 for %s', async query => {
    expect((await history(query)).status).toBe(400);
  });

  it('/receipt-policy-history.json 200: the policy that receipts sign', async () => {
    const { status, body } = await service.get<{ policies: { version: number; hash: string; policy: JsonObject }[] }>(
      '/.well-known/receipt-policy-history.json',
    );
    expect(status).toBe(200);
    for (const { hash, policy } of body.policies) expect(canonicalHash(policy)).toBe(hash);
    for (const [before, { version, policy }] of body.policies.entries()) {
      expect([version, policy.version]).toEqual([before + 1, before + 1]);
      expect(policy.previous_hash).toBe(body.policies[before - 1]?.hash);
    }
    const newest = body.policies.at(-1);
    expect(chat.svc.payload).toMatchObject({ receipt_policy: { version: newest?.version, hash: newest?.hash } });
  });

  it('/log-breaks.json 200: none were declared', async () => {
    expect(await service.get('/.well-known/log-breaks.json')).toMatchObject({ status: 200, body: [] });
  });

  interface Resource {
    readonly resource: string;
    readonly method: string;
    readonly accepts: readonly unknown[];
    readonly input: { readonly properties: object };
    readonly output: Shape | { readonly anyOf: readonly Shape[] };
  }
  interface Shape {
    readonly properties: object;
  }
  /** Members of an answer's first form. */
  const firstOf = (output: Resource['output']) => ('anyOf' in output ? output.anyOf[0] : output)?.properties ?? {};

  it('/x402 200: every paid door with the very offer of its 402, and the schemas that v1 has in short', async () => {
    const { status, body } = await service.get<{ resources: readonly Resource[] }>('/.well-known/x402');
    expect(status).toBe(200);
    const paid = everyDoor.filter(({ price }) => price !== null);
    expect(body.resources.map(({ resource }) => resource)).toEqual(paid.map(door => service.url + door.path));
    const { agent_id, session } = await service.newAgent();
    // If the price depends on the request, no offer is listed.
    const offered = body.resources.filter(({ accepts }) => accepts.length > 0);
    expect(paid.filter(({ price }) => price?.amount_atomic === null)).toHaveLength(paid.length - offered.length);
    for (const { resource: template, method, accepts, input, output } of offered) {
      const resource = template.replace('{agent_id}', String(agent_id)).replace(/\{\w+\}/g, 'any');
      // If possession is checked first, only a caller that proves it gets the offer.
      const door = paid.find(({ path }) => template === service.url + path);
      const headers: Record<string, string> = door?.challenge === 'first' ? {} : { 'X-SVC-Session': session };
      const unpaid = await service.knock<ChallengeBody>(method, resource.replace(service.url, ''), { headers });
      const required = decodePaymentRequiredHeader(unpaid.headers.get('payment-required') ?? '');
      expect(accepts).toEqual(required.accepts);
      // The body contains these schemas, and the header of v2 only the offer.
      expect(Object.keys(required).sort()).toEqual(['accepts', 'extensions', 'resource', 'x402Version']);
      expect(required.resource).toEqual({ url: resource });
      const [offer] = unpaid.body.accepts;
      expect(extractDiscoveryInfoV1(offer as never)).toMatchObject({
        input: { type: 'http', method, body: anyOf(input.properties) },
        output: { example: anyOf(firstOf(output)) },
      });
    }
  });
});

/** The same members with any values. */
function anyOf(members: object): object {
  return Object.fromEntries(Object.keys(members).map(name => [name, expect.anything()]));
}

describe('GET /health', () => {
  it('200 with the profile, the stand-ins and the size of the log', async () => {
    const [log] = await service.query<{ tree_size: string }>('select tree_size from log_head');
    const heard = await service.get('/health');
    expect(heard).toMatchObject({ status: 200, body: { status: 'ok', profile: 'development' } });
    expect(heard.body.log).toMatchObject({ tree_size: Number(log?.tree_size) });
  });
});

describe('HEAD', () => {
  it.each([
    ['/v1/models', 200],
    ['/health', 200],
    [CHAT, 402],
    [`/receipt/${NOBODY}`, 404],
  ])('%s %i: the status and headers of GET, and no body', async (path, status) => {
    const [head, get] = [await fetch(service.url + path, { method: 'HEAD' }), await service.get(path)];
    expect([head.status, get.status]).toEqual([status, status]);
    expect(await head.text()).toBe('');
    for (const name of ['content-type', 'payment-required']) expect(head.headers.get(name)).toBe(get.headers.get(name));
  });
});

describe('a path without a door', () => {
  it.each(['/', '/v1', '/v1/chat', '/receipt', '/v1/chat/x', '/%2e%2e/etc'])('GET %s 404', async path => {
    expect(await service.get(path)).toMatchObject(notFound);
  });

  it.each(['PUT', 'DELETE', 'PATCH'])('%s /v1/models 405', async method => {
    const heard = await service.knock(method, '/v1/models');
    expect(heard).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(heard.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('a key that was revoked while the service runs', () => {
  const REASON = 'a laptop was lost';
  let kid: string;
  let history: JsonObject;
  /** Size of the log when the key was revoked. */
  let tree_size: number;
  beforeAll(async () => {
    const [log] = await service.query<{ tree_size: string }>('select tree_size from log_head');
    tree_size = Number(log?.tree_size);
    const issuer = openIssuer(ISSUER_KEYS, { base_url: service.url, now_ms: systemClock.now_ms });
    kid = openIssuer(ISSUER_KEYS.slice(1), { base_url: service.url, now_ms: systemClock.now_ms }).kid;
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

  it('is named at /.well-known/revocations, with time, reason and the log of before', async () => {
    const [key, ...others] = await revoked();
    expect(others).toHaveLength(2);
    expect(key).toMatchObject({ kid, status: 'revoked', reason: REASON, log: { tree_size } });
    for (const name of ['revoked_at', 'since', 'retired_at', 'statement']) expect(key).toHaveProperty(name);
  });

  it('is marked in the key set and the DID document, and goes on standing there', async () => {
    const { body: jwks } = await service.get<{ keys: JsonObject[] }>('/.well-known/jwks.json');
    expect(jwks.keys.map(key => 'revoked' in key)).toEqual([false, false, false, true, true, true]);
    expect(jwks.keys.find(key => key.kid === kid)).toMatchObject({ revoked: { reason: REASON, tree_size } });
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
