import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { networks } from '../../schema/network.ts';
import type { ResultProofNoun } from '../../schema/result-proof.ts';
import { leafHash, verifyInclusion } from '../../subgraphs/receipt/verify/merkle-proof.ts';
import { ask, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Proof = z.infer<typeof ResultProofNoun>;

let service: Service;
let chat: Chat;
beforeAll(async () => {
  service = await sharedService();
  chat = (await service.buy(await service.chain.newWallet(), ask('Proven'))).body;
  // The log must have grown since, because a proof of the newest leaf is the shortest.
  for (const content of ['One', 'Two', 'Three']) await service.buy(await service.chain.newWallet(), ask(content));
});

const proven = (query: string) => service.get<Proof>(`/prove-result?${query}`);
const bytes = (hex: string) => Buffer.from(hex, 'hex');

describe('GET /prove-result 200', () => {
  it('by the id of the task and of its answer: where on which chain a stranger finds the transfer', async () => {
    const { task_id, payment_ref, verify_url } = chat.svc;
    for (const id of [task_id, chat.id]) {
      const { status, body } = await proven(`task_id=${id}&requested=true`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        task_id,
        status: 'completed',
        proof_outcome: 'settled',
        verify_url,
        shown_for: 'requested',
        settlement: {
          payment_ref,
          chain: networks.base.caip2,
          tx_hash: payment_ref.replace('base:', ''),
          transfer_index: expect.any(Number),
          asset: networks.base.usdc,
          amount: '2000',
          payer: chat.svc.payer_wallet,
          pay_to: service.pay_to,
          observed: true,
        },
      });
      expect(body.does_not_prove.join(' ')).toContain('USDC');
    }
    const { settlement } = (await proven(`task_id=${task_id}&requested=true`)).body;
    const receipt = await service.chain.call<{ logs: { logIndex: string }[] }>(
      'eth_getTransactionReceipt',
      settlement?.tx_hash ?? null,
    );
    expect(receipt.logs.map(({ logIndex }) => Number(logIndex))).toContain(settlement?.transfer_index);
  });

  it('its proof verifies offline against the signed tree head, and not for another leaf', async () => {
    const { inclusion } = (await proven(`task_id=${chat.svc.task_id}`)).body;
    if (!inclusion) throw new Error('nothing is included');
    const { leaf_index, tree_size: size, root_hash, jws, payload } = inclusion;
    expect(size).toBeGreaterThan(leaf_index + 1);
    const path = inclusion.path.map(bytes);
    const claim = { leaf_index, size, root: bytes(root_hash) };
    const leaf = leafHash(canonicalJson(payload as JsonObject));
    expect(leaf.toString('hex')).toBe(inclusion.leaf_hash);
    expect(verifyInclusion({ ...claim, leaf }, path)).toBe(true);
    const other = leafHash(canonicalJson({ ...(payload as JsonObject), task_id: 'another' }));
    expect(verifyInclusion({ ...claim, leaf: other }, path)).toBe(false);

    const { body: jwks } = await service.get<JsonObject>('/.well-known/jwks.json');
    const signed = await jwtVerify(jws, createLocalJWKSet(jwks as unknown as JSONWebKeySet), { algorithms: ['ES256'] });
    const { log_id, tree_head_hash } = inclusion;
    expect(signed.payload).toMatchObject({ log_id, tree_size: size, root_hash, tree_head_hash });
  });

  it('without the settlement where it is neither requested nor above the cost gate', async () => {
    for (const query of ['', '&requested=false']) {
      const { body } = await proven(`task_id=${chat.svc.task_id}${query}`);
      expect(body).toMatchObject({ shown_for: null, settlement: null, inclusion: { leaf_index: expect.any(Number) } });
      expect(body.does_not_prove.join(' ')).toContain('requested=true');
    }
  });

  it('says of a call by key that it proves no payment, and of none but a key set that one had before', async () => {
    const { body: called } = await service.post<Chat>('/v1/chat/completions', ask('By key'), {
      'X-API-Key': 'a-live-key',
    });
    const { body } = await proven(`task_id=${called.svc.task_id}&requested=true`);
    expect(body).toMatchObject({ settlement: null, shown_for: null, inclusion: { leaf_index: expect.any(Number) } });
    expect(body.does_not_prove).toContain('That anything was paid: no payment stands behind this task.');
    const paid = (await proven(`task_id=${chat.svc.task_id}`)).body.does_not_prove.join(' ');
    expect(paid).not.toContain('That anything was paid');
    for (const { does_not_prove } of [body, (await proven(`task_id=${chat.svc.task_id}`)).body])
      expect(does_not_prove.join(' ')).toContain('That these keys are the issuer’s');
  });

  it('says that the model is what the hub was asked for, and no more than that', async () => {
    const { body } = await proven(`task_id=${chat.svc.task_id}`);
    const audit = (await service.get<{ does_not_prove: string[] }>(`/receipt/${chat.svc.task_id}?format=auditor`)).body;
    for (const { does_not_prove } of [body, audit])
      expect(does_not_prove).toContain(
        'That the hub used the model that is named: the hub was asked for it, and only the hub knows.',
      );
  });

  it('with nothing to prove where the book refused it', async () => {
    const { heard } = await policyDoorsOf(service).chatToRefusal(await policyDoorsOf(service).newBlockedAgent());
    const { body } = await proven(`task_id=${heard.body.task_id}`);
    const nothing = { shown_for: null, settlement: null, inclusion: null, proves: [] };
    expect(body).toMatchObject({ status: 'refused', proof_outcome: 'none', ...nothing });
    expect(body.does_not_prove.join(' ')).not.toMatch(/tx_hash|transaction|transfer|USDC/);
  });
});

describe('GET /prove-result', () => {
  it.each([`task_${'0'.repeat(26)}`, 'x'])('404 for %s', async id => {
    expect(await proven(`task_id=${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it.each([
    ['task_id', ''],
    ['requested', `task_id=task_${'0'.repeat(26)}&requested=maybe`],
  ])('400 without a good %s', async (param, query) => {
    expect(await proven(query)).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('405 on POST: it costs nothing, and no 402 is said', async () => {
    expect((await service.post('/prove-result', {})).status).toBe(405);
  });
});
