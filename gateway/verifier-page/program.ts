/**
 * The program of the page of a receipt or refusal, without `</script`. A build contains it (`development/build.ts`); otherwise it
 * is built at the first request.
 */
export async function verifierProgram(): Promise<string> {
  const { pageProgram } = await import('../development/verifier-program.ts');
  return pageProgram('own-evidence');
}
