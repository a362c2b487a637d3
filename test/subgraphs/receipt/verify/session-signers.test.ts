import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { sessionDomain, sessionTypes } from '../../../../schema/session/typed-data.ts';
import { verify } from '../../../../subgraphs/receipt/verify/module.ts';
import { delegate, hex32, signAct, signRevocation } from '../../../harness/session/delegate.ts';

/* The report on a document of a session names as signers only those who signed it. */

const base_url = 'https://svc.example';
const domain = sessionDomain(base_url);
const newKey = () => privateKeyToAccount(generatePrivateKey());
const [payer, agent, stranger] = [newKey(), newKey(), newKey()];
const judge = (document: JsonObject) => verify(document, { keys: [] }, { base_url });

const delegation_hash = hex32();
const revocation: JsonObject = {
  delegation_hash,
  payer: payer.address,
  ...(await signRevocation(payer, delegation_hash, 1_700_000_000, domain)),
};

const root = await delegate(payer, payer, agent, {}, domain);
const grant = { grant: root.grant, signature: root.signature } as unknown as JsonObject;
const child = await delegate(agent, payer, stranger, { parentDelegationHash: root.delegation_hash }, domain);
const of_child = {
  grant: child.grant,
  signature: child.signature,
  signer: agent.address,
} as unknown as JsonObject;

const act = await signAct(root, { action: 'read_private', resource: 'book' }, domain);
const of_act = {
  domain,
  types: { SessionAct: sessionTypes.SessionAct },
  primaryType: 'SessionAct',
  message: {
    delegationHash: root.delegation_hash,
    nonce: act.nonce,
    action: act.action,
    resource: act.resource,
    deadline: act.deadline,
    targetAgent: 0,
    payloadHash: `0x${'0'.repeat(64)}`,
  },
  signature: act.signature,
  signer: agent.address,
} as unknown as JsonObject;

const byStranger = { ...(await signRevocation(stranger, delegation_hash, 1_700_000_000, domain)) };

describe('a document of a session, verified offline', () => {
  it.each<[what: string, document: JsonObject]>([
    ['a revocation', revocation],
    ['a revocation, its signer named twice', { ...revocation, signer: payer.address.toLowerCase() }],
    ['a grant', grant],
    [
      'a grant with its payer, key and hash',
      {
        ...grant,
        payer: root.grant.payer,
        agent_pubkey: root.grant.agentPubkey,
        delegation_hash: root.delegation_hash,
        signer: payer.address,
      },
    ],
    ['a child', of_child],
    ['an act', of_act],
    ['an act by the public key of its signer', { ...of_act, agent_pubkey: agent.publicKey }],
    ['members that are null', { ...of_act, address: null, agent_pubkey: null }],
  ])('is valid: %s', (_what, document) => {
    expect(judge(document)).toMatchObject({ valid: true, report: { unsigned: { lane: [], unknown: [] } } });
  });

  it.each<[what: string, document: JsonObject]>([
    [
      'a revocation by another than its payer',
      {
        delegation_hash,
        payer: payer.address,
        ...byStranger,
        signer: stranger.address,
      },
    ],
    ['a revocation whose address is another’s', { ...revocation, address: stranger.address }],
    ['a grant whose signer is not its payer', { ...grant, signer: stranger.address }],
    ['a grant whose address is another’s', { ...grant, address: stranger.address }],
    ['an act with another’s key', { ...of_act, agent_pubkey: stranger.publicKey }],
    ['a signer that is no address', { ...grant, signer: 'somebody' }],
  ])('is not valid: signer_differs for %s', (_what, document) => {
    expect(judge(document)).toMatchObject({ valid: false, fault: { code: 'signer_differs' } });
  });

  it.each<[what: string, document: JsonObject]>([
    ['a grant with another’s payer', { ...grant, payer: stranger.address }],
    ['a grant with another’s key', { ...grant, agent_pubkey: stranger.publicKey }],
    ['a grant with another’s hash', { ...grant, delegation_hash }],
    ['a child with another’s payer', { ...of_child, payer: stranger.address }],
    ['an act with another’s hash', { ...of_act, delegation_hash }],
  ])('is not valid: fact_differs for %s', (_what, document) => {
    expect(judge(document)).toMatchObject({ valid: false, fault: { code: 'fact_differs' } });
  });

  it('names in its report what nothing that was signed says', () => {
    const { report } = judge({ ...of_act, payer: stranger.address, at: 1, grant: {} });
    expect(report?.unsigned.lane).toEqual(['payer', 'at', 'grant']);
    expect(judge({ ...revocation, agent_pubkey: agent.publicKey }).report?.unsigned.lane).toEqual(['agent_pubkey']);
  });
});
