import { canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type WalletClaimKind, walletClaimText } from '../../../schema/inflow-claim.ts';
import { limits } from '../../../schema/limits.ts';
import { eip191Hash } from '../../../schema/secp256k1.ts';
import type { BookContext } from '../context.ts';

/** Claim that a wallet signed, as the issuer's claim contains it. */
export type WalletWord = { readonly wallet: string; readonly wallet_claim: JsonObject };

export interface WalletClaim extends JsonObject {
  /** Base URL of the service for which the claim is signed. */
  readonly iss: string;
  readonly agent_id: number;
  /** Time of the signature (ISO 8601). */
  readonly signed_at: string;
  readonly signature: string;
}

interface ClaimRequest {
  readonly kind: WalletClaimKind;
  readonly claim: WalletClaim;
  /** Member of the request that contains the claim. */
  readonly param: 'inflow_claim' | 'correction';
  /** Members of the request. The claim must have the same values. Members that the request leaves out are taken from the claim. */
  readonly said: Readonly<Record<string, Json | undefined>>;
}

type WalletCheckContext = Pick<BookContext, 'base_urls' | 'free_wallets' | 'walletOfAgent' | 'principal' | 'clock'>;

/**
 * Checks a claim that the agentWallet signed. Checks that do not read the chain come first.
 * @throws inflow_claim_invalid, rate_limited; chain_unavailable, unavailable if the chain could not be read
 */
export async function requireWalletClaim(
  shown: ClaimRequest,
  agent_id: AgentId,
  asking: WalletCheckContext,
): Promise<WalletWord> {
  const { kind, claim, param, said } = shown;
  const wrong = (member: string) => new Refusal('inflow_claim_invalid', { param: `${param}.${member}` });
  if (!asking.base_urls.includes(claim.iss)) throw wrong('iss');
  if (claim.agent_id !== agent_id) throw wrong('agent_id');
  const same = (value: Json, name: string) => canonicalJson(value) === canonicalJson(claim[name] ?? null);
  const other = Object.entries(said).find(([name, value]) => value !== undefined && !same(value, name))?.[0];
  if (other !== undefined) throw wrong(other);
  const ahead_ms = Date.parse(claim.signed_at) - asking.clock.now_ms();
  if (ahead_ms > limits.wallet_signature_ahead_seconds_max * 1000) throw wrong('signed_at');
  const wallet = await asking.walletOfAgent(agent_id);
  if (wallet === null) throw wrong('signature');
  const digest = eip191Hash(walletClaimText(kind, claim));
  const verdict = await asking.free_wallets.verifies(wallet, [digest], claim.signature, asking.principal.address);
  if (verdict === 'unreachable') throw new Refusal('chain_unavailable', { facts: { charged: false } });
  if (verdict === 'no_turn') throw new Refusal('unavailable', { facts: { charged: false } });
  if (verdict !== 'valid') throw wrong('signature');
  return { wallet, wallet_claim: claim };
}

const DIGITS = 32;

/**
 * Task id that follows from the content of a signed claim, so that the claim is used only once. Not used if the claim names a task
 * id.
 */
export function taskOfClaim(kind: WalletClaimKind, claim: JsonObject): string {
  return `${kind}_${sha256Hex(walletClaimText(kind, claim)).slice(0, DIGITS)}`;
}
