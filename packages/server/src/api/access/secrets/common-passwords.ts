/** The most common passwords of eight characters and more from published leaks, without digits at their end. */
const words = new Set(
  `password passw0rd p@ssword p@ssw0rd pa55word passwort motdepasse contrasena qwertyuiop qwertyui qwerty qwertz azerty
  asdfghjk asdfghjkl asdfasdf zxcvbnm zxcvbnm, 1qaz2wsx 1q2w3e4r 1q2w3e4r5t 1q2w3e q1w2e3r4 q1w2e3r4t5 zaq12wsx qazwsxedc
  qazwsx 1qazxsw2 iloveyou ilovegod lovelove sunshine princess football baseball basketball superman batman spiderman
  pokemon starwars trustno dragon monkey shadow master michael jennifer jessica michelle charlie computer internet
  whatever welcome letmein letmeinnow admin administrator administrador adminadmin root toor changeme changeit default
  secret topsecret mysecret testtest testing tester test temp temporary guest login abc abcd abcdef abcdefg abcdefgh
  abcdefghi abcabc aaaa samsung google facebook microsoft chocolate butterfly liverpool chelsea arsenal barcelona
  juventus manchester america canada germany elizabeth victoria alexander benjamin jonathan christopher samantha
  daniel jordan harley ranger buster thomas robert soccer hockey george andrew joshua pepper ginger summer winter spring
  autumn hello helloworld hello123world freedom nothing everything blink mustang corvette ferrari mercedes maverick
  phoenix scorpion cheese cookie cookies banana flower flowers garfield hannah hunter killer blessed jesus christ
  jesuschrist jesus4life godisgood family friends forever lovely babygirl babyboy angel angels loveme iloveu teamo tequiero
  mypassword yourpassword newpassword thepassword passpass password! passw0rd! p@ssw0rd! welcome! graticule`
    .split(/\s+/)
    .filter((word) => word !== ''),
)

/** Also a repeated character, and runs of the keyboard's digits. */
export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase()
  if (/^(.{1,3})\1+.?.?$/u.test(text)) return true
  if ('01234567890123456789'.includes(text) || '98765432109876543210'.includes(text)) return true
  return words.has(text) || words.has(text.replace(/[\d!@#$%^&*?._-]+$/, ''))
}
