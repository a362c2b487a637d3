import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../canonical-json.ts';
import { isUsdc, type NameOutcome, splitRef, transactionNamed, walletNamed } from '../foreign-names.ts';
import { INT_MAX, ingestLimits, limits } from '../limits.ts';
import { type NetworkName, networkNamed } from '../network.ts';
import type { NullIfLeftOut } from '../noun.ts';
import type { CommittedOutput } from '../output-commitment.ts';
import { textForm } from '../signed-words.ts';
import { deliveryStatedIn } from './deliverable.ts';
import { ForeignInvoice, ForeignOffer, ForeignSettlement, NanoSend } from './ingest-members.ts';
import { PossessionMembers } from './possession.ts';
import { OfferReceipt } from './signed-artifact.ts';
import { wellFormedText } from './text.ts';

/* The body of POST /v1/agents/{agent_id}/book/ingest: one payment, in one of three forms. */

/** Possession is checked before the body is parsed. */
const body = PossessionMembers.extend({
  nano: NanoSend.nullish().describe(
    'Confirmed (cemented) send block of XNO: `{block, recipient, amount, description}`. Send either this, `payment_required` or `foreign_invoice`.',
  ),
  payment_required: ForeignOffer.nullish().describe(
    'Payment requirements of another x402 service, in USDC: `{resource, amount, payTo, network}`, with `payment_response`. Send either this, `nano` or `foreign_invoice`.',
  ),
  payment_response: z
    .union([wellFormedText.max(ingestLimits.payment_response_chars_max), ForeignSettlement])
    .nullish()
    .describe(
      'Required with `payment_required`: the settlement header unchanged (base64 or JSON), or an object {tx, payer, network, success}.',
    )
    .meta({ scalar: 'JSON' }),
  offer_receipt: OfferReceipt.nullish()
    .meta({ scalar: 'JSON' })
    .describe(
      'Offer and receipt of a payment in USDC, or one of them, signed by the wallet that was paid (offer-receipt extension of x402): ' +
        'typed data on Base, a JWS (EdDSA) on Solana. Default: none.',
    ),
  foreign_invoice: ForeignInvoice.nullish().describe(
    'Invoice of the party that was paid, in USDC: `{amount, payer, payTo, tx, …}`. Send either this, `nano` or `payment_required`.',
  ),
  fulfillment_invoice: ForeignInvoice.nullish().describe('Another name of `foreign_invoice`; send one of the two.'),
  transfer_index: z
    .int()
    .min(0)
    .max(INT_MAX)
    .nullish()
    .describe(
      'Index of the transfer, from 0: on Base of its log in the block, ' +
        'on Solana of its instruction in the transaction, inner ones counted after their outer one. Required if several transfers of the transaction match: `transfer_indexes` of the error lists them. Refused with `nano`. Default: the only match.',
    ),
  payer_signature: wellFormedText
    .max(limits.wallet_signature_chars_max)
    .nullish()
    .describe(
      'Signature of the wallet that paid, over ' +
        `${textForm('ingest')}. Without it, the payer is proven only if it is the wallet of the agent or has paid for a call of this book.`,
    ),
  payer_signature_timestamp: z
    .int()
    .min(0)
    .nullish()
    .describe(
      `Unix seconds in the text that \`payer_signature\` signs, within ${ingestLimits.payer_signature_seconds_max} seconds of now. Required with it.`,
    ),
}).strict();
type Body = z.output<typeof body>;

/** The canonical request that a payment is bound to. It is stored encrypted with the claim, so that another process can finish it. */
export type IngestRequest = {
  readonly nano?: z.output<typeof NanoSend>;
  readonly payment_required?: Readonly<Pick<z.output<typeof ForeignOffer>, 'resource' | 'amount' | 'payTo'>> & {
    readonly network: NetworkName;
  };
  readonly payment_response?: { readonly tx: string; readonly payer: string; readonly network: NetworkName };
  readonly foreign_invoice?: CanonicalInvoice;
  /** Absent if the request has none. */
  readonly offer_receipt?: OfferReceipt;
} & NullIfLeftOut<Pick<Body, 'transfer_index' | 'payer_signature' | 'payer_signature_timestamp'>>;

export type CanonicalInvoice = Readonly<Pick<ForeignInvoice, 'amount' | 'payer' | 'payTo'>> &
  NullIfLeftOut<Pick<ForeignInvoice, 'resource' | 'hub' | 'model' | 'intent_id' | 'attempt_index'>> & {
    readonly tx: string;
    readonly network: NetworkName;
    readonly job_kind: NonNullable<ForeignInvoice['job_kind']>;
    readonly output_commitment: CommittedOutput;
  };

/** What is wrong with a member, by its path. */
class Fault extends Error {
  readonly path: readonly string[];

  constructor(path: string, message: string) {
    super(message);
    this.path = path.split('.');
  }
}

export const IngestRequest = body.transform((given, context): IngestRequest => {
  try {
    return canonical(given);
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    context.addIssue({ code: 'custom', message: fault.message, path: [...fault.path] });
    return z.NEVER;
  }
});

const forms = ['nano', 'payment_required', 'foreign_invoice', 'fulfillment_invoice'] as const;

function canonical(given: Body): IngestRequest {
  const [form, second] = forms.filter(name => given[name] != null);
  if (second !== undefined)
    throw new Fault(second, `cannot be sent with ${form}: a request describes one payment, in one form`);
  const { payment_response, payer_signature = null, payer_signature_timestamp = null } = given;
  if (form === undefined)
    throw new Fault(payment_response == null ? 'foreign_invoice' : 'payment_required', 'is required');
  if (form !== 'payment_required' && payment_response != null)
    throw new Fault('payment_response', `cannot be sent with ${form}: a request describes one payment, in one form`);
  if ((payer_signature === null) !== (payer_signature_timestamp === null))
    throw payer_signature === null
      ? new Fault('payer_signature', 'is required with payer_signature_timestamp')
      : new Fault('payer_signature_timestamp', 'is required with payer_signature');
  if (form === 'nano' && given.transfer_index != null)
    throw new Fault('transfer_index', 'cannot be sent with nano: a Nano block is one transfer');
  if (form === 'nano' && given.offer_receipt != null)
    throw new Fault('offer_receipt', 'cannot be sent with nano: it is for x402 payments in USDC');
  const proof = { payer_signature, payer_signature_timestamp };
  const signed = given.offer_receipt == null ? {} : { offer_receipt: given.offer_receipt };
  return { ...canonicalForm(given), ...signed, transfer_index: given.transfer_index ?? null, ...proof };
}

function canonicalForm(
  given: Body,
): Pick<IngestRequest, 'nano' | 'payment_required' | 'payment_response' | 'foreign_invoice'> {
  if (given.nano) {
    const { block, recipient, ...members } = given.nano;
    const named = {
      block: name('nano.block', transactionNamed('nano', block)),
      recipient: name('nano.recipient', walletNamed('nano', recipient)),
    };
    return { nano: { ...named, ...members } };
  }
  if (given.payment_required) return fromSettlement(given.payment_required, given.payment_response);
  if (given.foreign_invoice) return { foreign_invoice: fromInvoice('foreign_invoice', given.foreign_invoice) };
  if (given.fulfillment_invoice)
    return { foreign_invoice: fromInvoice('fulfillment_invoice', given.fulfillment_invoice) };
  throw new Fault('foreign_invoice', 'is required');
}

function fromSettlement(
  required: NonNullable<Body['payment_required']>,
  shown: Body['payment_response'],
): Pick<IngestRequest, 'payment_required' | 'payment_response'> {
  if (shown == null) throw new Fault('payment_response', 'is required with payment_required');
  const response = typeof shown === 'string' ? responseIn(shown) : shown;
  if (response.success === false) throw new Fault('payment_response.success', 'is false, so nothing was paid');
  if (response.payer == null)
    throw new Fault('payment_response.payer', 'is required: a transaction alone does not prove who paid');
  const network = networkOf({
    'payment_required.network': required.network,
    'payment_response.network': response.network,
  });
  requireUsdc('payment_required.asset', network, required.asset);
  const { resource, amount, payTo } = required;
  return {
    payment_required: { resource, amount, payTo: name('payment_required.payTo', walletNamed(network, payTo)), network },
    payment_response: {
      tx: transactionOf('payment_response', network, { tx: response.tx, transaction: response.transaction }),
      payer: name('payment_response.payer', walletNamed(network, response.payer)),
      network,
    },
  };
}

function responseIn(header: string): ForeignSettlement {
  const decoded = decodedResponse(header);
  if (decoded === null) throw new Fault('payment_response', 'is neither JSON nor base64 of JSON');
  const parsed = ForeignSettlement.safeParse(decoded);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault(['payment_response', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
}

function fromInvoice(form: string, invoice: ForeignInvoice): CanonicalInvoice {
  const { amount, resource, service_url, hub, model, intent_id, attempt_index } = invoice;
  const ref = invoice.payment_ref == null ? null : splitRef(invoice.payment_ref);
  const network = networkOf({ [`${form}.network`]: invoice.network, [`${form}.payment_ref`]: ref?.network });
  requireUsdc(`${form}.asset`, network, invoice.asset);
  if (resource != null && service_url != null && resource !== service_url)
    throw new Fault(`${form}.service_url`, 'contradicts resource');
  const delivered = deliveryStatedIn(invoice);
  if (delivered.kind === 'faulty') throw new Fault(`${form}.${delivered.param}`, delivered.fault);
  return {
    amount,
    payer: name(`${form}.payer`, walletNamed(network, invoice.payer)),
    payTo: name(`${form}.payTo`, walletNamed(network, invoice.payTo)),
    tx: transactionOf(form, network, { tx: invoice.tx, payment_ref: ref?.transaction ?? invoice.payment_ref }),
    network,
    resource: resource ?? service_url ?? null,
    hub: hub ?? null,
    model: model ?? null,
    job_kind: invoice.job_kind ?? 'other',
    output_commitment: delivered.commitment,
    intent_id: intent_id ?? null,
    attempt_index: attempt_index ?? null,
  };
}

/** The network that the members name. They must agree. Default: Base. */
function networkOf(members: Readonly<Record<string, string | null | undefined>>): NetworkName {
  const named = Object.entries(members).flatMap(([param, text]) => {
    if (text == null) return [];
    const network = networkNamed(text);
    if (network === null) throw new Fault(param, 'must be base or solana, or the CAIP-2 id of one of them');
    return [{ param, network }];
  });
  const [first, other] = named;
  if (first && other && other.network !== first.network) throw new Fault(other.param, `contradicts ${first.param}`);
  return first?.network ?? 'base';
}

function transactionOf(
  form: string,
  network: NetworkName,
  members: Readonly<Record<string, string | null | undefined>>,
): string {
  const named = Object.entries(members).flatMap(([member, text]) =>
    text == null ? [] : [{ member, tx: name(`${form}.${member}`, transactionNamed(network, text)) }],
  );
  const [first, other] = named;
  if (first === undefined) throw new Fault(`${form}.tx`, 'is required');
  if (other && other.tx !== first.tx) throw new Fault(`${form}.${other.member}`, `contradicts ${first.member}`);
  return first.tx;
}

function requireUsdc(param: string, network: NetworkName, asset: string | null | undefined): void {
  if (asset != null && !isUsdc(network, asset)) throw new Fault(param, `is not USDC on ${network}`);
}

function name(param: string, named: NameOutcome): string {
  if (named.kind === 'none') throw new Fault(param, named.form);
  return named.name;
}

/** The object in a settlement header: base64 of JSON, or the JSON itself. Null if it is neither. */
function decodedResponse(header: string): JsonObject | null {
  const given = header.trim();
  const text = given.startsWith('{') ? given : textIn(given);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** RFC 4648 4 and 5, with or without padding. */
function textIn(base64: string): string | null {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64').toString('utf8') : null;
}
