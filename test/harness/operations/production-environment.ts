import { randomBytes } from 'node:crypto';

const secret = () => randomBytes(32).toString('hex');

/** Settings that make a process one of production: everything that a test's ground leaves to stand-ins, with secrets of its own. */
export function productionEnvironment() {
  return {
    NODE_ENV: 'production',
    // Production refuses the ground's own settings: plain http, and publicly known keys.
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
