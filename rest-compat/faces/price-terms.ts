import type { DoorPrice } from '../door.ts';

/** What a call costs and on which networks it is paid, in the words of each text that says so. */
export function priceTerms({ amount_atomic, networks }: DoorPrice) {
  const amount = amount_atomic === null ? null : `${amount_atomic} atomic USDC`;
  const where = `on ${networks.join(' or ')}`;
  return {
    /** OpenAPI: the beginning of a sentence. */
    sentence: `Costs ${amount ?? 'what its 402 response says, in atomic USDC'} by x402 ${where}`,
    /** A tool of MCP: in parentheses after its summary. */
    beside_summary: `${amount ?? 'price in the 402 response'}, by x402 ${where}`,
    /** /llms.txt: the end of an item, on a page that begins with what x402 is. */
    listed: `${amount ?? 'what its 402 says'} ${where}`,
    /** The agent card: of each message. */
    of_each: `${amount ?? 'The price in the 402 response'} each, ${where}`,
  };
}
