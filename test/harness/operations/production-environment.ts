import { randomBytes } from 'node:crypto';

const secret = () => randomBytes(32).toString('hex');

/** All that the ground of a test leaves to stand-ins, with secrets of its own: with it a process is one of production. */
export function productionEnvironment() {
  return {
    NODE_ENV: 'production',
    // The ground's own would be refused: plain http, and keys that all the world knows.
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
