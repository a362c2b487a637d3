import { type JsonObject, jsonObjectIn } from '../../../../schema/canonical-json.ts';
import { eip191Hash } from '../../../../schema/secp256k1.ts';
import { registerText, type SignedWord, signedWords } from '../../../../schema/signed-words.ts';
import type { DocumentVerification } from '../report.ts';
import { type Check, judgeBy, type Rule, unless } from '../signed-document.ts';
import { isSignedOnSolana, isSolanaAddress, namelessFault, signerFault } from './signer.ts';

/*
 * Verifies a text that a wallet signed for this service (`schema/signed-words.ts`). The document has the form that wallets show: the
 * text, the signature and the signer.
 */

interface SignedTextFacts {
  readonly kind: SignedWord;
  readonly text: string;
  readonly signature: string;
  /** Signer that the document states. Null if it names none. */
  readonly stated: string | null;
  /** Parts of the text after its first word, by name. Empty if the text has another number of parts. */
  readonly parts: Readonly<Record<string, string>>;
  /** Service that the text names. Null if it names none. */
  readonly service: string | null;
}

/** Names that wallets and explorers use for these members. */
const names = {
  text: ['text', 'message', 'msg'],
  signature: ['signature', 'sig', 'wallet_signature', 'payer_signature'],
  signer: ['signer', 'address', 'wallet', 'agentWallet', 'account'],
} as const;

const textIn = (document: JsonObject, of: readonly string[]): string | null =>
  of.map(name => document[name]).find(value => typeof value === 'string') ?? null;

const words = Object.entries(signedWords).flatMap(([kind, it]) =>
  'word' in it ? [{ kind: kind as SignedWord, ...it }] : [],
);

/** The text of a registration, made from the parts that its request contains instead of the text; null for any other document. */
function registrationText({ agentWallet, signature_timestamp, task_id }: JsonObject): string | null {
  if (typeof agentWallet !== 'string' || typeof signature_timestamp !== 'number') return null;
  const parts = { checksum_address: agentWallet, unix_seconds: signature_timestamp };
  return typeof task_id === 'string'
    ? registerText('register_recover', { task_id, ...parts })
    : registerText('register_pay', parts);
}

function signedTextIn(document: JsonObject): SignedTextFacts | null {
  const text = textIn(document, names.text) ?? registrationText(document);
  const signature = textIn(document, names.signature);
  const row = words.find(({ word }) => text?.startsWith(`${word}|`));
  if (text === null || signature === null || row === undefined) return null;
  const stated = textIn(document, names.signer);
  const { kind } = row;
  if (row.form === 'claim') {
    const iss = jsonObjectIn(text.slice(text.indexOf('|') + 1))?.iss;
    return { kind, text, signature, stated, parts: {}, service: typeof iss === 'string' ? iss : null };
  }
  const [, ...values] = text.split('|');
  const named = row.names === 'part' && /^https?:\/\//.test(values[0] ?? '');
  const service = named ? (values.shift() ?? null) : null;
  const whole = values.length === row.parts.length;
  const parts = whole ? Object.fromEntries(row.parts.map((name, at) => [name, values[at] ?? ''])) : {};
  return { kind, text, signature, stated, parts, service };
}

/** Whether a document contains a text of this service with the signature of a wallet. */
export const isWalletText = (document: JsonObject): boolean => signedTextIn(document) !== null;

/** Verifies a text offline. Only the address of its signer is needed. */
export function verifyWalletText(document: JsonObject): DocumentVerification {
  const said = signedTextIn(document);
  if (said === null)
    return {
      kind: 'invalid',
      code: 'malformed',
      sentence: 'The document contains no text of a form that wallets sign.',
      checks: [],
    };
  const judged = judgeBy(rules, said);
  if (judged.kind === 'invalid') return judged;
  const { kind, text, parts, service } = said;
  const claims = { word: kind, service, signer: signerOfText(said), text, ...parts };
  const whom = service === null ? [] : [`Whether ${service} is the service that you expect.`];
  const unchecked = [
    ...whom,
    ...(service === null && signedWords[kind].names !== 'specified'
      ? ['Which service it is for: texts of this earlier form do not name one.']
      : []),
    'Whether the service accepted it in time: a text is valid for 300 seconds, and only once.',
  ];
  const known: readonly string[] = Object.values(names).flat();
  const unknown = Object.keys(document).filter(name => !known.includes(name) && parts[name] !== document[name]);
  return {
    kind: 'valid',
    claims,
    checks: judged.checks,
    report: { unsigned: { lane: unknown, unknown: [] }, broken: [], unchecked },
  };
}

/** Address of the signer that the text itself names; null if it names none. */
const addressIn = ({ parts }: SignedTextFacts): string | null =>
  parts.checksum_address ?? parts.wallet ?? parts.address ?? null;

const signerOfText = (said: SignedTextFacts): string | null => addressIn(said) ?? said.stated;

const rules: readonly Rule<SignedTextFacts>[] = [
  {
    code: 'signer_differs',
    says: 'The signer is the wallet that the text names, if it names one.',
    fault: said => {
      const named = addressIn(said);
      const same = named === null || said.stated === null || named.toLowerCase() === said.stated.toLowerCase();
      return unless(same, `The text names ${named}, but the document names ${said.stated} as its signer.`);
    },
  },
  {
    code: 'signature_invalid',
    says: 'The key of the signer signed the text (EIP-191, or Ed25519 on Solana).',
    fault: said => signatureFault(said),
  },
];

function signatureFault(said: SignedTextFacts): string | Check | null {
  const { text, signature } = said;
  const signer = signerOfText(said);
  if (signer !== null && isSolanaAddress(signer))
    return unless(isSignedOnSolana(text, signature, signer), `The key of ${signer} did not sign this text.`);
  const digest = eip191Hash(text);
  if (signer === null) return namelessFault(digest, signature);
  if (!/^0x[0-9a-f]{40}$/i.test(signer)) return `${signer} is not an address.`;
  return signerFault(digest, signature, signer);
}
