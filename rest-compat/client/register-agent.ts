import { registerText } from '../../schema/signed-words.ts';
import { nowSeconds } from './kept-payments.ts';
import type { PaymentProblem } from './standing.ts';

export interface Registration {
  /** Pays for the request from this wallet, such as `payingFetch`. */
  readonly pay: typeof fetch;
  /** Base URL of the service, without a path. */
  readonly url: string;
  readonly wallet: RegisteringWallet;
  /** Unix seconds in the signed text, at most 300 seconds ago; default: now. */
  readonly at_seconds?: number;
}

/** A wallet on Base, such as an account of viem. */
export interface RegisteringWallet {
  /** 0x and 40 hex digits in EIP-55 spelling, because the signed text contains it. */
  readonly address: string;
  /** Signs a text with the paying wallet (EIP-191, or its contract by ERC-1271); 0x and hex digits. */
  signMessage(text: { readonly message: string }): Promise<string>;
}

export interface RegisteredAgent {
  /** Id of the agent and of its book. */
  readonly agent_id: number;
  /** Secret that opens the book, as `X-SVC-Session`. Only this response contains it. */
  readonly session: string;
}

/** The service, or a proxy before it, did not register the wallet. */
export class RegistrationRefused extends Error {
  override name = 'RegistrationRefused';
  /** HTTP status. */
  readonly status: number;
  /** `code` of the service, such as `wallet_registered`; null if the response is not from the service. */
  readonly code: string | null;
  /** Whether the payment was charged; null if the response does not say. */
  readonly charged: boolean | null;

  constructor(status: number, problem: PaymentProblem | null) {
    const { code = null, charged = null, detail = '' } = problem ?? {};
    super(`the service does not register the wallet: ${[status, code, detail].filter(Boolean).join(' ')}`);
    this.status = status;
    this.code = code;
    this.charged = charged;
  }
}

/**
 * Registers a wallet as an agent with a book, by POST /v1/agents/register. A wallet is registered and charged once: another
 * registration gets 409 `wallet_registered`. `payingFetch` sends the same payment until there is a response. If that is
 * lost nevertheless (`PaymentPending`, an interrupted body), call again with the same `pay` and `at_seconds`: a wallet
 * that signs a text the same way each time, as viem's accounts do, makes the same request again, whose payment brings the
 * stored response for 24 hours. @throws RegistrationRefused, and what `pay` throws
 */
export async function registerAgent(registration: Registration): Promise<RegisteredAgent> {
  const { pay, url, wallet, at_seconds = nowSeconds() } = registration;
  const message = registerText('register_pay', { checksum_address: wallet.address, unix_seconds: at_seconds });
  const wallet_signature = await wallet.signMessage({ message });
  const answer = await pay(`${url.replace(/\/+$/, '')}/v1/agents/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentWallet: wallet.address, wallet_signature, signature_timestamp: at_seconds }),
  });
  if (!answer.ok) {
    const problem = (await answer.json().catch(() => null)) as PaymentProblem | null;
    throw new RegistrationRefused(answer.status, problem);
  }
  const { agent_id, session } = (await answer.json()) as RegisteredAgent;
  return { agent_id, session };
}
