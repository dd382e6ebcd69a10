import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies webhooks; headers: names in lower case; body: the bytes as they came, before any parsing. */
public final class Verify {
  private static final long TOLERANCE_SECONDS = 300;

  private Verify() {}

  /** X-SVC-Signature: sha256=<hex> over the raw body; the key is the whole webhook_secret. */
  public static boolean svc(String secret, Map<String, String> headers, byte[] body)
      throws GeneralSecurityException {
    byte[] sum = hmac(secret.getBytes(StandardCharsets.UTF_8), body);
    String expected = "sha256=" + HexFormat.of().formatHex(sum);
    return isSame(headers.getOrDefault("x-svc-signature", ""), expected);
  }

  /** Standard Webhooks: v1,<base64> over id.timestamp.body; the key is what follows whsec_, decoded. */
  public static boolean standard(
      String secret, Map<String, String> headers, byte[] body, long nowSeconds)
      throws GeneralSecurityException {
    String id = headers.getOrDefault("webhook-id", "");
    String timestamp = headers.getOrDefault("webhook-timestamp", "");
    if (id.isEmpty() || !timestamp.matches("[0-9]{1,12}")) return false;
    if (Math.abs(nowSeconds - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) return false;
    byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
    ByteArrayOutputStream signed = new ByteArrayOutputStream();
    signed.writeBytes((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    signed.writeBytes(body);
    String sum = Base64.getEncoder().encodeToString(hmac(key, signed.toByteArray()));
    // There may be several, separated by blanks, while a secret is being replaced.
    return Arrays.stream(headers.getOrDefault("webhook-signature", "").split(" "))
        .anyMatch(given -> isSame(given, "v1," + sum));
  }

  private static byte[] hmac(byte[] key, byte[] message) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(message);
  }

  private static boolean isSame(String given, String expected) {
    return MessageDigest.isEqual(
        given.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
  }
}
