import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { logPrefix } from '../../../schema/links.ts';
import { type ProofVerification, verifyLogProof } from '../../../subgraphs/receipt/verify/log-proof.ts';
import { leafHash } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { type NoteKeyKind, type VerifierKey, verifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import { OperatorFault } from '../../config/fault.ts';

/** What the command line asks of a receipt's place in the log. */
export interface ProofAsked {
  /** A file or URL that holds a proof. */
  readonly proof?: string | undefined;
  readonly 'log-key'?: readonly string[] | undefined;
  readonly witness?: readonly string[] | undefined;
}

/** A receipt's place in the log. */
export interface ProvenPlace {
  readonly source: string;
  /** The log's keys were, and not asked of the service itself. */
  readonly keys_given: boolean;
  readonly verification: ProofVerification;
}

/** Reads a file or a URL. @throws OperatorFault where it cannot be read */
type ReadText = (source: string) => Promise<string>;

/**
 * Whether a receipt stands in a log whose checkpoint all named witnesses have cosigned, by a proof of C2SP's that lies
 * beside it, or that the service hands out. Null where nothing of that was asked.
 */
export async function provePlace(
  receipt: JsonObject | null,
  asked: ProofAsked,
  read: ReadText,
  base_url: string | undefined,
): Promise<ProvenPlace | null> {
  const { proof, 'log-key': log_keys = [], witness: witnesses = [] } = asked;
  if (proof === undefined && log_keys.length === 0 && witnesses.length === 0) return null;
  if (receipt === null) throw new OperatorFault('only a receipt stands in the log');
  const log = base_url === undefined ? null : logPrefix(base_url);
  const source = proof ?? (log && `${log}/proof/${taskOf(receipt)}`);
  if (source === null)
    throw new OperatorFault('a witness vouches for a proof: give one with --proof, or the URL of a receipt');
  const keys_given = log_keys.length > 0;
  if (!keys_given && log === null) throw new OperatorFault('a proof is signed by its log: give its key with --log-key');
  const texts = keys_given ? log_keys : (await read(`${log}/verifier-keys`)).split('\n').filter(Boolean);
  const wanted = { log_keys: verifierKeys(texts, 'signature'), witnesses: verifierKeys(witnesses, 'cosignature') };
  const verification = verifyLogProof(await read(source), { ...wanted, leaf: leafOf(receipt) });
  return { source, keys_given, verification };
}

function taskOf({ task_id, payload }: JsonObject): string {
  const id = task_id ?? (isJsonObject(payload) ? payload.task_id : null);
  return encodeURIComponent(String(id));
}

/** What stands in the log is the payload that was signed, in canonical JSON. */
function leafOf({ payload }: JsonObject): Buffer {
  if (!isJsonObject(payload)) throw new OperatorFault('only a receipt stands in the log');
  return leafHash(canonicalJson(payload));
}

/** @throws OperatorFault where one of them is none of that kind */
export function verifierKeys(texts: readonly string[], kind: NoteKeyKind): VerifierKey[] {
  return texts.map(text => {
    const key = verifierKey(text);
    if (key?.kind === kind) return key;
    const whose = kind === 'signature' ? 'a log' : 'a witness';
    throw new OperatorFault(`${text} is no verifier key of ${whose}: <name>+<id>+<key>`);
  });
}
