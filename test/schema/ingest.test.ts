import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../schema/digest.ts';
import { checksummedAddress } from '../../schema/eip55.ts';
import { networks } from '../../schema/network.ts';
import { IngestRequest } from '../../schema/requests/ingest.ts';
import { parseRequest } from '../../schema/requests/parse.ts';

const TX = `0x${'ab'.repeat(32)}`;
const PAYER = checksummedAddress(`0x${'1a'.repeat(20)}`);
const PAYEE = checksummedAddress(`0x${'2b'.repeat(20)}`);
const SOLANA_TX = '1'.repeat(64);
const SOLANA_WALLET = networks.solana.usdc;
const NANO = `nano_1${'1'.repeat(59)}`;

const invoice = { amount: '2500', payer: PAYER, payTo: PAYEE, tx: TX };
const required = { resource: 'https://shop.example/v1/x', amount: '2500', payTo: PAYEE };
const response = { tx: TX, payer: PAYER };
const nano = { block: 'c'.repeat(64), recipient: NANO, amount: '1', description: 'A report' };

const parsed = (body: object) => parseRequest(IngestRequest, body);
/** Code and parameter of the refusal. */
const fault = (body: object) => {
  try {
    parsed(body);
  } catch (refusal) {
    const { code, extensions } = refusal as { code: string; extensions: { param?: string } };
    return `${code} ${extensions.param}`;
  }
  return 'none';
};
const same = (one: object, other: object) => expect(parsed(one)).toEqual(parsed(other));

const casing = fc.infiniteStream(fc.boolean()).map(uppers => (hex: string) => {
  const at = uppers[Symbol.iterator]();
  return hex.replace(/[a-f]/gi, digit => (at.next().value ? digit.toUpperCase() : digit.toLowerCase()));
});
const hexOf = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(it => Buffer.from(it).toString('hex'));

describe('what another shop was paid', () => {
  const header = JSON.stringify({ success: true, transaction: TX, network: 'base', payer: PAYER });
  it.each([
    ['JSON', header],
    ['base64', Buffer.from(header).toString('base64')],
    ['base64url', Buffer.from(header).toString('base64url')],
    ['an object', JSON.parse(header)],
    ['tx', { tx: TX, payer: PAYER, network: 'eip155:8453' }],
    ['both names of the transaction', { tx: TX, transaction: TX, payer: PAYER.toLowerCase() }],
  ])('is one request, whether the settlement comes as %s', (_, payment_response) => {
    same({ payment_required: required, payment_response }, { payment_required: required, payment_response: response });
  });

  it('is what it is, whatever the case of hex and however its network is named', () => {
    fc.assert(
      fc.property(
        hexOf(32),
        hexOf(20),
        hexOf(20),
        casing,
        fc.constantFrom(undefined, null, 'base', 'eip155:8453'),
        fc.constantFrom('tx', 'payment_ref', 'base', 'eip155:8453'),
        (tx, payer, payTo, spell, network, ref) => {
          const shown = `0x${spell(tx)}`;
          const named =
            ref === 'tx' ? { tx: shown } : { payment_ref: ref === 'payment_ref' ? shown : `${ref}:${shown}` };
          const said = { amount: '1', payer: `0x${spell(payer)}`, payTo: `0x${spell(payTo)}`, ...named, network };
          const made = parsed({ fulfillment_invoice: said });
          expect(made.foreign_invoice).toMatchObject({
            tx: `0x${tx}`,
            payer: checksummedAddress(`0x${payer}`),
            payTo: checksummedAddress(`0x${payTo}`),
            network: 'base',
          });
          same({ foreign_invoice: said }, { fulfillment_invoice: said });
          // What it was brought to is brought to itself.
          expect(parsed(made)).toEqual(made);
        },
      ),
    );
  });

  it('may be of Solana, by its name or its CAIP-2 id, and keeps the case of base58', () => {
    const said = { amount: '5', payer: SOLANA_WALLET, payTo: SOLANA_WALLET, tx: SOLANA_TX };
    const made = parsed({ foreign_invoice: { ...said, network: networks.solana.caip2 } });
    expect(made.foreign_invoice).toMatchObject({ network: 'solana', payer: SOLANA_WALLET, tx: SOLANA_TX });
    expect(parsed({ foreign_invoice: { ...said, network: 'solana' } })).toEqual(made);
    expect(parsed({ foreign_invoice: { ...said, tx: undefined, payment_ref: `solana:${SOLANA_TX}` } })).toEqual(made);
  });

  it('is a block of Nano, in upper case, whatever its account begins with', () => {
    const made = parsed({ nano });
    expect(made.nano).toEqual({ ...nano, block: 'C'.repeat(64) });
    same({ nano }, { nano: { ...nano, block: 'C'.repeat(64), recipient: NANO.replace('nano_', 'xrb_') } });
    expect(parsed(made)).toEqual(made);
  });

  it('asks for no other token than USDC', () => {
    for (const asset of ['USDC', 'usdc', networks.base.usdc.toLowerCase(), null])
      same({ foreign_invoice: { ...invoice, asset } }, { foreign_invoice: invoice });
    expect(fault({ foreign_invoice: { ...invoice, asset: PAYEE } })).toBe('invalid_request foreign_invoice.asset');
    const payment_required = { ...required, asset: networks.solana.usdc };
    expect(fault({ payment_required, payment_response: response })).toBe('invalid_request payment_required.asset');
  });
});

describe('what was delivered', () => {
  const commitment = (members: object) =>
    parsed({ foreign_invoice: { ...invoice, ...members } }).foreign_invoice?.output_commitment;

  it('whole, by its hash, or as a commitment is one commitment', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), casing, fc.boolean(), (deliverable, spell, prefixed) => {
        const hash = sha256Hex(deliverable);
        const shown = `${prefixed ? '0x' : ''}${spell(hash)}`;
        const made = { status: 'committed', hash, kind: 'sha256', omission_rule: null };
        for (const members of [
          { deliverable },
          { deliverable, deliverable_kind: 'sha256' },
          { deliverable_hash: shown, deliverable_kind: 'sha256' },
          { output_commitment: { hash: shown, kind: 'sha256' } },
          { output_commitment: `sha256:${hash}` },
          { deliverable, deliverable_hash: shown, deliverable_kind: 'sha256', output_commitment: { ...made } },
        ])
          expect(commitment(members)).toEqual(made);
      }),
    );
  });

  it('may be left out, and says so', () => {
    const none = { status: 'UNVERIFIED', hash: null, kind: null };
    expect(commitment({ omit_deliverable: true })).toEqual({ ...none, omission_rule: 'omit_deliverable' });
    expect(commitment({})).toEqual({ ...none, omission_rule: 'no_deliverable' });
    expect(commitment({ output_commitment: { status: 'UNVERIFIED', omission_rule: 'private' } })).toEqual({
      ...none,
      omission_rule: 'private',
    });
  });

  const hash = 'd'.repeat(64);
  it.each([
    ['a hash without its kind, also with 0x', { deliverable_hash: `0x${hash}` }, 'deliverable_kind'],
    ['a kind without a hash', { deliverable_kind: 'sha256' }, 'deliverable_hash'],
    [
      'another kind than the one it is hashed by',
      { deliverable: 'x', deliverable_kind: 'keccak256' },
      'deliverable_kind',
    ],
    ['another hash', { deliverable: 'x', deliverable_hash: hash, deliverable_kind: 'sha256' }, 'deliverable_hash'],
    [
      'another kind of the commitment',
      { deliverable: 'x', output_commitment: `keccak256:${hash}` },
      'output_commitment',
    ],
    ['a commitment without a kind', { output_commitment: { hash } }, 'output_commitment.kind'],
    ['a commitment to nothing', { output_commitment: { status: 'committed' } }, 'output_commitment.hash'],
    [
      'a hash that is none',
      { output_commitment: { status: 'UNVERIFIED', hash, kind: 'sha256' } },
      'output_commitment.status',
    ],
    ['an omission of what is there', { deliverable: 'x', omit_deliverable: true }, 'omit_deliverable'],
    ['a kind that nobody knows', { deliverable_hash: hash, deliverable_kind: 'md5' }, 'deliverable_kind'],
  ])('is refused as %s', (_, members, param) => {
    expect(fault({ foreign_invoice: { ...invoice, ...members } })).toBe(`invalid_request foreign_invoice.${param}`);
  });
});

describe('a request that is none names the member at fault', () => {
  const shop = (members: object) => ({ payment_required: required, payment_response: { ...response, ...members } });
  const shopInvoice = (members: object) => ({ foreign_invoice: { ...invoice, ...members } });
  it.each<[string, object, string]>([
    ['nothing', {}, 'foreign_invoice'],
    ['a bare transaction', { tx: TX }, 'tx'],
    ['a transaction without its payer', shop({ payer: undefined }), 'payment_response.payer'],
    ['an invoice without its payer', shopInvoice({ payer: undefined }), 'foreign_invoice.payer'],
    ['an invoice without its payee', shopInvoice({ payTo: undefined }), 'foreign_invoice.payTo'],
    ['an invoice without a transaction', shopInvoice({ tx: undefined }), 'foreign_invoice.tx'],
    ['two transactions', shopInvoice({ payment_ref: `0x${'0'.repeat(64)}` }), 'foreign_invoice.payment_ref'],
    ['two transactions of a settlement', shop({ transaction: `0x${'0'.repeat(64)}` }), 'payment_response.transaction'],
    ['a failed settlement', shop({ success: false }), 'payment_response.success'],
    ['a payee of another network than its settlement', shop({ network: 'solana' }), 'payment_required.payTo'],
    [
      'two networks that are said',
      { ...shop({ network: 'solana' }), payment_required: { ...required, network: 'base' } },
      'payment_response.network',
    ],
    ['a network that nobody knows', shopInvoice({ network: 'eip155:1' }), 'foreign_invoice.network'],
    [
      'a reference of another network',
      shopInvoice({ tx: undefined, payment_ref: `base:${TX}`, network: 'solana' }),
      'foreign_invoice.payment_ref',
    ],
    ['a settlement alone', { payment_response: response }, 'payment_required'],
    ['an offer alone', { payment_required: required }, 'payment_response'],
    ['a settlement that nobody can read', { payment_required: required, payment_response: '%%%' }, 'payment_response'],
    [
      'a settlement header with another payer than text',
      { payment_required: required, payment_response: '{"payer":1}' },
      'payment_response.payer',
    ],
    ['two forms', { ...shopInvoice({}), nano }, 'foreign_invoice'],
    ['two invoices', { foreign_invoice: invoice, fulfillment_invoice: invoice }, 'fulfillment_invoice'],
    ['a settlement beside an invoice', { ...shopInvoice({}), payment_response: response }, 'payment_response'],
    ['an amount of nothing', shopInvoice({ amount: '0' }), 'foreign_invoice.amount'],
    ['an amount with a point', shopInvoice({ amount: '0.5' }), 'foreign_invoice.amount'],
    ['a number as amount', shopInvoice({ amount: 5 }), 'foreign_invoice.amount'],
    ['a payer of another chain', shopInvoice({ payer: SOLANA_WALLET }), 'foreign_invoice.payer'],
    ['two resources', shopInvoice({ resource: 'a', service_url: 'b' }), 'foreign_invoice.service_url'],
    ['a member that nobody knows', shopInvoice({ paid: true }), 'foreign_invoice'],
    ['a block without a description', { nano: { ...nano, description: undefined } }, 'nano.description'],
    ['a block that is none', { nano: { ...nano, block: TX } }, 'nano.block'],
    ['an index of a block', { nano, transfer_index: 1 }, 'transfer_index'],
    ['a signature without its time', { ...shopInvoice({}), payer_signature: '0x' }, 'payer_signature_timestamp'],
    ['a description without an end', { nano: { ...nano, description: 'x'.repeat(501) } }, 'nano.description'],
  ])('%s', (_, body, param) => {
    expect(fault(body)).toBe(`invalid_request ${param}`);
  });
});
