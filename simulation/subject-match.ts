/** Whether a subject matches a pattern with `*` (one token) and `>` (one token or more at the end). */
export function subjectMatches(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.');
  const given = subject.split('.');
  for (const [index, token] of wanted.entries()) {
    if (token === '>') return given.length > index;
    const actual = given[index];
    if (actual === undefined || (token !== '*' && token !== actual)) return false;
  }
  return wanted.length === given.length;
}
