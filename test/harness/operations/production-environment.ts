import { randomBytes } from 'node:crypto';

const secret = () => randomBytes(32).toString('hex');

/** Settings of a production process: a value for everything that a test's ground leaves to stand-ins, and new secrets. */
export function productionEnvironment() {
  return {
    NODE_ENV: 'production',
    // These replace settings of the ground that production refuses: plain http, and publicly known keys.
    BASE_URL: 'https://svc.test',
    FACILITATOR_KEYS: secret(),
    ISSUER_KEYS: secret(),
    SEAL_KEY: secret(),
    SUBGRAPH_SECRET: secret(),
    ANCHOR_KEY: secret(),
    API_KEYS: '',
    DEMO_KEYS: '',
    WAIVER_KEYS: '',
    ROUTER_URL: '',
    BOARD_OPS_SECRET: secret(),
    BOARD_INBOUND_SECRET: secret(),
    SOLANA_RPC_URL: '',
    SOLANA_FEE_PAYER_KEY: '',
    PAY_TO_SOLANA: '',
  } as const;
}
