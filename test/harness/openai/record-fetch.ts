import type { Fetch } from '../buyer.ts';

/** A fetch for a buyer that records each payment and each answer to one. */
export function recordFetch(by: Fetch = fetch) {
  const payments = new Set<string>();
  const answers: Pick<Response, 'status' | 'headers'>[] = [];
  const watching: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const payment = request.headers.get('PAYMENT-SIGNATURE') ?? request.headers.get('X-PAYMENT');
    if (payment) payments.add(payment);
    const answer = await by(request);
    if (payment) answers.push({ status: answer.status, headers: answer.headers });
    return answer;
  };
  return { payments, answers, fetch: watching };
}
