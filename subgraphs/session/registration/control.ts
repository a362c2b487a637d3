import { type Address, getAddress, hashMessage, isAddress, isHex } from 'viem';
import { keccak256 } from '../../../schema/digest.ts';
import { limits } from '../../../schema/limits.ts';
import type { RegistrationRequest } from '../../../schema/requests/registration.ts';
import { registerText } from '../../../schema/signed-words.ts';
import type { WalletProofs } from '../../wallet-proofs.ts';
import type { RegistrationText } from './take-signature.ts';

/** EIP-55 spelling of an address. Null if it is invalid. Mixed case must match the checksum, which detects typing errors. */
export function checksumAddress(text: string): Address | null {
  return isAddress(text) ? getAddress(text) : null;
}

/** Text that the wallet signs to pay for its registration or to recover one by a receipt. */
export function controlText(wallet: Address, at_seconds: number, task_id: string | null): string {
  const signed = { checksum_address: wallet, unix_seconds: at_seconds };
  return task_id === null
    ? registerText('register_pay', signed)
    : registerText('register_recover', { task_id, ...signed });
}

/** Id of a signed text: keccak256 of its UTF-8 bytes. It is the default of `request_hash`. */
export function textHash(text: string): string {
  return `0x${Buffer.from(keccak256(Buffer.from(text))).toString('hex')}`;
}

/** `request_hash` of a registration: any 32 bytes chosen by the caller, or the id of the signed text. */
export function requestHashOf({ request_hash }: Pick<RegistrationRequest, 'request_hash'>, text_hash: string): string {
  return request_hash?.toLowerCase() ?? text_hash;
}

/** Whether a signature is at most 300 seconds old. Times slightly in the future are accepted, because clocks differ. */
export function isFresh(at_seconds: number, now_ms: number): boolean {
  const age_seconds = Math.floor(now_ms / 1000) - at_seconds;
  return (
    age_seconds <= limits.wallet_signature_age_seconds_max && age_seconds >= -limits.wallet_signature_ahead_seconds_max
  );
}

export type Control =
  | ({ readonly kind: 'proven'; readonly wallet: Address } & RegistrationText)
  | { readonly kind: 'invalid_wallet' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'foreign_signature' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'no_turn' };

/** Services for the check of a signature. `asker` is the address of the client. `look` throws if the wallet cannot register anyway. */
export interface ControlRequest {
  readonly wallets: WalletProofs;
  readonly asker: string;
  look?(wallet: Address): Promise<void>;
}

/**
 * Whether the request proves control of its wallet. The members of the request are checked first, then the database (`look`), and last
 * the signature (EIP-191, by a key or a contract), which may need a call to the chain.
 */
export async function proveControl(
  request: RegistrationRequest,
  now_ms: number,
  { wallets, asker, look }: ControlRequest,
): Promise<Control> {
  const wallet = checksumAddress(request.agentWallet);
  if (wallet === null) return { kind: 'invalid_wallet' };
  const { wallet_signature, signature_timestamp } = request;
  if (wallet_signature === null || signature_timestamp === null) return { kind: 'missing' };
  const text = controlText(wallet, signature_timestamp, request.task_id);
  if (!isFresh(signature_timestamp, now_ms)) return { kind: 'stale' };
  if (!isBytes(wallet_signature)) return { kind: 'foreign_signature' };
  await look?.(wallet);
  const verdict = await wallets.verifies(wallet, hashMessage(text, 'bytes'), wallet_signature, asker);
  if (verdict === 'unreachable' || verdict === 'no_turn') return { kind: verdict };
  if (verdict !== 'valid') return { kind: 'foreign_signature' };
  return { kind: 'proven', wallet, text_hash: textHash(text), signed_at_seconds: signature_timestamp };
}

/** Whether a signature is `0x` and an even number of hex digits. Any length is accepted, because contracts define their own signatures. */
function isBytes(signature: string): boolean {
  return isHex(signature, { strict: true }) && signature.length % 2 === 0 && signature.length > 2;
}
